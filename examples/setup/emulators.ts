/** For tests: connects the web app to the emulators that `firebase emulators:exec` has started. */
import { connectAuthEmulator } from "firebase/auth";
import { connectFirestoreEmulator } from "firebase/firestore";
import { auth, db } from "./firebase.ts";

/** Call it before the app's first read or write. */
export function connectEmulators({ FIRESTORE_EMULATOR_HOST, FIREBASE_AUTH_EMULATOR_HOST } = process.env) {
  const [host = "", port] = (FIRESTORE_EMULATOR_HOST ?? "").split(":");
  connectFirestoreEmulator(db, host, Number(port));
  connectAuthEmulator(auth, `http://${FIREBASE_AUTH_EMULATOR_HOST}`, { disableWarnings: true });
}

/** The connection to Firestore: one for the page, and one for the worker that sends traffic. */
import { type FirebaseApp, initializeApp } from "firebase/app";
import { connectFirestoreEmulator, type Firestore, initializeFirestore, setLogLevel } from "firebase/firestore";
import type { FirebaseSetup } from "./firebaseSetup.ts";

export interface Connection {
  readonly setup: FirebaseSetup;
  readonly app: FirebaseApp;
  readonly db: Firestore;
}

/** @param host  another name of the emulator's host: a browser opens six connections per name */
export function openConnection(setup: FirebaseSetup, host = setup.firestore?.host): Connection {
  // The page itself shows that there is no connection.
  setLogLevel("silent");
  const app = initializeApp(setup.options);
  const db = initializeFirestore(app, {});
  if (setup.firestore && host) connectFirestoreEmulator(db, host, setup.firestore.port);
  return { setup, app, db };
}

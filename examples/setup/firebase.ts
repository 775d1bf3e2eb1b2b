/** The web app's Firebase: one app, its user and its database. */
import { initializeApp } from "firebase/app";
import { getAuth, signInAnonymously } from "firebase/auth";
import { getFirestore } from "firebase/firestore";
import { firebaseConfig } from "./firebaseConfig.ts";

const app = initializeApp(firebaseConfig);
export const auth = getAuth(app);
export const db = getFirestore(app);

let signIn: Promise<unknown> | undefined;

/** The uid of the signed-in user. Without one, signs in anonymously, once for all calls that wait. */
export async function userId(): Promise<string> {
  await auth.authStateReady();
  if (auth.currentUser) return auth.currentUser.uid;
  signIn ??= signInAnonymously(auth).finally(() => {
    signIn = undefined;
  });
  await signIn;
  return userId();
}

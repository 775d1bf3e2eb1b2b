/** The connection to Firestore: one for the page, and one for the worker that sends traffic. */
import { type FirebaseApp, initializeApp } from "firebase/app";
import { connectFirestoreEmulator, type Firestore, initializeFirestore, setLogLevel } from "firebase/firestore";
import type { Setup } from "./hosting.ts";

export interface Backend {
  readonly setup: Setup;
  readonly app: FirebaseApp;
  readonly db: Firestore;
}

/** @param host  by what other name the emulator is reached, if it is one: a browser has six connections for each name */
export function openBackend(setup: Setup, host = setup.firestore?.host): Backend {
  // The page shows by itself when there is no connection.
  setLogLevel("silent");
  const app = initializeApp(setup.options);
  const db = initializeFirestore(app, {});
  if (setup.firestore && host) connectFirestoreEmulator(db, host, setup.firestore.port);
  return { setup, app, db };
}

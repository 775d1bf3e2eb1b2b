/** Buyers of tickets: each has an account and a connection of its own, because an account buys once. */
import { deleteApp, initializeApp } from "firebase/app";
import { connectAuthEmulator, initializeAuth, inMemoryPersistence, signInAnonymously } from "firebase/auth";
import { connectFirestoreEmulator, initializeFirestore } from "firebase/firestore";
import { counter, takeFromCounter } from "firestore-tally";
import type { FirebaseSetup } from "../firebase/firebaseSetup.ts";

let buyers = 0;

/**
 * The buyer's connection ends with the call, because a browser opens six to a host.
 *
 * @throws CounterError `counter/sold-out`
 */
export async function buyTicket({ options, auth: authAddress, firestore }: FirebaseSetup, id: string): Promise<void> {
  const app = initializeApp(options, `buyer-${buyers++}`);
  const auth = initializeAuth(app, { persistence: inMemoryPersistence });
  if (authAddress) connectAuthEmulator(auth, authAddress, { disableWarnings: true });
  const db = initializeFirestore(app, {});
  if (firestore) connectFirestoreEmulator(db, firestore.host, firestore.port);
  try {
    const key = (await signInAnonymously(auth)).user.uid;
    await takeFromCounter(counter(db, id), 1, { key });
  } finally {
    await deleteApp(app);
  }
}

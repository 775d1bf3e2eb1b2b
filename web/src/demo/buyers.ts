/** Buyers of tickets: each has an account and a connection of its own, because an account buys once. */
import { deleteApp, initializeApp } from "firebase/app";
import { connectAuthEmulator, initializeAuth, inMemoryPersistence, signInAnonymously } from "firebase/auth";
import { connectFirestoreEmulator, initializeFirestore } from "firebase/firestore";
import { counter, takeFromCounter, undoIncrement } from "firestore-tally";
import type { FirebaseSetup } from "../firebase/firebaseSetup.ts";

/** A buyer who has a ticket. */
export interface Buyer {
  /** Ends the buyer, too. */
  giveBack(): Promise<void>;
}

let buyers = 0;

/** @throws CounterError `counter/sold-out` */
export async function buyTicket({ options, auth: authAddress, firestore }: FirebaseSetup, id: string): Promise<Buyer> {
  const app = initializeApp(options, `buyer-${buyers++}`);
  const auth = initializeAuth(app, { persistence: inMemoryPersistence });
  if (authAddress) connectAuthEmulator(auth, authAddress, { disableWarnings: true });
  const db = initializeFirestore(app, {});
  if (firestore) connectFirestoreEmulator(db, firestore.host, firestore.port);
  const tickets = counter(db, id);
  try {
    const key = (await signInAnonymously(auth)).user.uid;
    await takeFromCounter(tickets, 1, { key });
    return {
      async giveBack() {
        await undoIncrement(tickets, key);
        await deleteApp(app);
      },
    };
  } catch (error) {
    await deleteApp(app);
    throw error;
  }
}

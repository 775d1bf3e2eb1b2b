/**
 * Buyers of tickets: each has an account and a connection of its own, because an account buys once. A worker loads what only
 * they need of the SDK.
 */
import { deleteApp, initializeApp } from "firebase/app";
import { connectAuthEmulator, initializeAuth, inMemoryPersistence, signInAnonymously } from "firebase/auth";
import { connectFirestoreEmulator, initializeFirestore, setLogLevel } from "firebase/firestore";
import { counter, takeFromCounter } from "firestore-tally";
import type { FirebaseSetup } from "../firebase/firebaseSetup.ts";

/** How many tickets of which counter are wanted, by as many buyers. */
export interface Purchase {
  readonly setup: FirebaseSetup;
  readonly counter: string;
  readonly buyers: number;
}

/** The code of each buyer's error; `null` for a ticket. */
export type Outcomes = readonly (string | null)[];

// The page itself shows what is refused.
setLogLevel("silent");

let buyers = 0;

/** A browser opens six connections to a host, for all tabs together, and a buyer may need two. */
const AT_ONCE = 2;

addEventListener("message", async ({ data: { setup, counter, buyers } }: MessageEvent<Purchase>) => {
  const outcomes: (string | null)[] = [];
  let next = 0;
  const buyInTurn = async () => {
    while (next++ < buyers) {
      const outcome = await buyTicket(setup, counter).then(
        () => null,
        (error) => String(error.code),
      );
      outcomes.push(outcome);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, buyInTurn));
  postMessage(outcomes satisfies Outcomes);
});

/**
 * The buyer's connections end with the call.
 *
 * @throws CounterError `counter/sold-out`
 */
async function buyTicket({ options, auth: authAddress, firestore }: FirebaseSetup, id: string): Promise<void> {
  const app = initializeApp(options, `buyer-${buyers++}`);
  const auth = initializeAuth(app, { persistence: inMemoryPersistence });
  if (authAddress) connectAuthEmulator(auth, authAddress, { disableWarnings: true });
  const db = initializeFirestore(app, {});
  // Another name of the host: the page has its own connections.
  if (firestore) connectFirestoreEmulator(db, "localhost", firestore.port);
  try {
    const once = (await signInAnonymously(auth)).user.uid;
    await takeFromCounter(counter(db, id), 1, { once });
  } finally {
    await deleteApp(app);
  }
}

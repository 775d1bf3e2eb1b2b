/**
 * Who looks at the page. Nobody is signed in until they like something, or are an operator.
 *
 * Firestore keeps the writes of each user apart and sends those of the present one alone. So whatever is under way is
 * waited for before the user changes.
 */
import {
  connectAuthEmulator,
  indexedDBLocalPersistence,
  initializeAuth,
  onIdTokenChanged,
  signInAnonymously,
  signInWithEmailAndPassword,
  signOut,
  type User,
} from "firebase/auth";
import { waitForPendingWrites } from "firebase/firestore";
import type { Backend } from "./backend.ts";

export interface Visitor {
  readonly uid: string;
  readonly email: string | null;
  /** Has the claim that the rules ask of an operator. */
  readonly isOperator: boolean;
}

export interface Session {
  /** Calls `next` now and whenever it changes. @returns a function that ends it */
  watch(next: (visitor: Visitor | undefined) => void): () => void;
  /** Whoever is signed in, else a new anonymous user. */
  someone(): Promise<string>;
  signIn(email: string, password: string): Promise<void>;
  signOut(): Promise<void>;
}

export async function openSession({ app, db, setup }: Backend): Promise<Session> {
  // It may find that somebody is signed in.
  await waitForPendingWrites(db);
  const auth = initializeAuth(app, { persistence: indexedDBLocalPersistence });
  if (setup.auth) connectAuthEmulator(auth, setup.auth, { disableWarnings: true });
  await auth.authStateReady();
  return {
    watch: (next) => onIdTokenChanged(auth, async (user) => next(user ? await visitorOf(user) : undefined)),
    async someone() {
      if (auth.currentUser) return auth.currentUser.uid;
      await waitForPendingWrites(db);
      return (await signInAnonymously(auth)).user.uid;
    },
    async signIn(email, password) {
      await waitForPendingWrites(db);
      await signInWithEmailAndPassword(auth, email, password);
    },
    async signOut() {
      await waitForPendingWrites(db);
      await signOut(auth);
    },
  };
}

async function visitorOf(user: User): Promise<Visitor> {
  const { claims } = await user.getIdTokenResult();
  return { uid: user.uid, email: user.email, isOperator: claims.operator === true };
}

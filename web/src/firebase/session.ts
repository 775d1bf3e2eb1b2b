/** Who looks at the page. Nobody is signed in until they like something, or are an operator. */
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
import type { Backend } from "./backend.ts";
import { switchUser } from "./switching.ts";

export interface Visitor {
  readonly uid: string;
  readonly email: string | null;
  /** Has the claim that the rules ask of an operator. */
  readonly isOperator: boolean;
}

export interface Session {
  /** Calls `next` now and whenever it changes. @returns a function that ends it */
  watch(next: (visitor: Visitor | undefined) => void): () => void;
  /** What the rules know the visitor by; `undefined` for nobody. */
  token(): Promise<string | undefined>;
  /** Whoever is signed in, else a new anonymous user. */
  someone(): Promise<string>;
  /** @returns who that is. @throws FirebaseError if there is no such account, or it cannot be known */
  signIn(email: string, password: string): Promise<string>;
  signOut(): Promise<void>;
}

export async function openSession({ app, setup }: Backend): Promise<Session> {
  // It may find that somebody is signed in.
  const auth = await switchUser(async () => {
    const auth = initializeAuth(app, { persistence: indexedDBLocalPersistence });
    if (setup.auth) connectAuthEmulator(auth, setup.auth, { disableWarnings: true });
    await auth.authStateReady();
    return auth;
  });
  return {
    watch: (next) => onIdTokenChanged(auth, async (user) => next(user ? await visitorOf(user) : undefined)),
    token: async () => auth.currentUser?.getIdToken(),
    async someone() {
      const user = auth.currentUser ?? (await switchUser(() => signInAnonymously(auth))).user;
      return user.uid;
    },
    async signIn(email, password) {
      const { user } = await switchUser(() => signInWithEmailAndPassword(auth, email, password));
      return user.uid;
    },
    signOut: () => switchUser(() => signOut(auth)),
  };
}

async function visitorOf(user: User): Promise<Visitor> {
  // Without a connection the token may be too old to tell.
  const token = await user.getIdTokenResult().catch(() => undefined);
  return { uid: user.uid, email: user.email, isOperator: token?.claims.operator === true };
}

/** Signing in and out. A visitor gets an account by liking something, or signs in as an operator. */
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
import type { Connection } from "./connection.ts";
import { changeUser } from "./pendingWrites.ts";

export interface Visitor {
  readonly uid: string;
  readonly email: string | null;
  /** Has the claim that the rules require of an operator. */
  readonly isOperator: boolean;
}

export interface AuthSession {
  /** Calls `next` now and on each change, with `undefined` if no user is signed in. @returns a function that ends it */
  watch(next: (visitor: Visitor | undefined) => void): () => void;
  /** The user's ID token; `undefined` if no user is signed in. */
  token(): Promise<string | undefined>;
  /** The user's id. Creates an anonymous user if no user is signed in. */
  ensureUser(): Promise<string>;
  /** @throws FirebaseError if the account or its password is wrong, or there is no connection */
  signIn(email: string, password: string): Promise<void>;
  signOut(): Promise<void>;
}

export async function openAuthSession({ app, setup }: Connection): Promise<AuthSession> {
  // Restoring a user from storage is a change of user, too.
  const auth = await changeUser(async () => {
    const auth = initializeAuth(app, { persistence: indexedDBLocalPersistence });
    if (setup.auth) connectAuthEmulator(auth, setup.auth, { disableWarnings: true });
    await auth.authStateReady();
    return auth;
  });
  const signedIn = async () => auth.currentUser ?? (await signInAnonymously(auth)).user;
  return {
    watch: (next) => onIdTokenChanged(auth, async (user) => next(user ? await visitorOf(user) : undefined)),
    token: async () => auth.currentUser?.getIdToken(),
    async ensureUser() {
      const user = auth.currentUser ?? (await changeUser(signedIn));
      return user.uid;
    },
    async signIn(email, password) {
      await changeUser(() => signInWithEmailAndPassword(auth, email, password));
    },
    signOut: () => changeUser(() => signOut(auth)),
  };
}

async function visitorOf(user: User): Promise<Visitor> {
  // Without a connection an expired token cannot be refreshed.
  const token = await user.getIdTokenResult().catch(() => undefined);
  return { uid: user.uid, email: user.email, isOperator: token?.claims.operator === true };
}

/**
 * SDK clients: web clients as users have them, to which the rules apply, and admin clients that set up and check. Importing this
 * needs running emulators, which it finds in the environment.
 */

import { Firestore as AdminFirestore } from "@google-cloud/firestore";
import { deleteApp, type FirebaseApp, initializeApp } from "firebase/app";
import { connectAuthEmulator, getAuth, signInAnonymously, signInWithCustomToken, signOut } from "firebase/auth";
import {
  connectFirestoreEmulator,
  type Firestore,
  type FirestoreSettings,
  initializeFirestore,
  setLogLevel,
} from "firebase/firestore";
import { initializeApp as initializeAdmin } from "firebase-admin/app";
import { getFirestore as getAdminFirestore } from "firebase-admin/firestore";

const projectId = fromEnvironment("GCLOUD_PROJECT");
const firestoreHost = fromEnvironment("FIRESTORE_EMULATOR_HOST");

function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set. Run this against the emulators: npm run emulators -- "<command>"`);
  return value;
}

// The tests cut connections and provoke refusals on purpose, which the SDK would log.
setLogLevel("silent");

/** The rules do not apply to it. */
export const admin = getAdminFirestore(initializeAdmin({ projectId }));

/** An admin client of another address, such as a proxy's, or of another project or database. */
export function adminAt(
  host: string,
  project = projectId,
  databaseId = "(default)",
): { firestore: AdminFirestore; close(): Promise<void> } {
  // The SDK reads the emulator's address from the environment when it is created.
  process.env.FIRESTORE_EMULATOR_HOST = host;
  const firestore = new AdminFirestore({ projectId: project, databaseId });
  process.env.FIRESTORE_EMULATOR_HOST = firestoreHost;
  return { firestore, close: () => firestore.terminate() };
}

export interface Client {
  readonly app: FirebaseApp;
  readonly db: Firestore;
  close(): Promise<void>;
}

let made = 0;

/**
 * A new web client with a connection of its own.
 *
 * @param host     another address of Firestore, such as a proxy's
 * @param project  another project, which has no functions
 * @param cache    its settings; by default a document leaves the cache when no listener needs it
 */
export function client(host = firestoreHost, project = projectId, cache: FirestoreSettings = {}): Client {
  const app = initializeApp({ projectId: project, apiKey: "any" }, `client-${made++}`);
  const db = initializeFirestore(app, cache);
  const [name, port] = host.split(":");
  connectFirestoreEmulator(db, name as string, Number(port));
  return { app, db, close: () => deleteApp(app) };
}

/** Signs a client in as the user of a uid, or as a new anonymous one, again if it is signed in already. @returns the uid */
export async function signIn({ app }: Client, uid?: string): Promise<string> {
  const auth = getAuth(app);
  if (auth.currentUser) await signOut(auth);
  else connectAuthEmulator(auth, `http://${process.env.FIREBASE_AUTH_EMULATOR_HOST}`, { disableWarnings: true });
  const signedIn = uid ? signInWithCustomToken(auth, JSON.stringify({ uid })) : signInAnonymously(auth);
  return (await signedIn).user.uid;
}

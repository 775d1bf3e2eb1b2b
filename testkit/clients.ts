/** Firebase apps for tests: web clients as users have them, with the rules on, and an admin for setting up and checking. */

import { Firestore as AdminFirestore } from "@google-cloud/firestore";
import { deleteApp, type FirebaseApp, initializeApp } from "firebase/app";
import { connectAuthEmulator, getAuth, signInAnonymously } from "firebase/auth";
import { connectFirestoreEmulator, type Firestore, getFirestore, setLogLevel } from "firebase/firestore";
import { initializeApp as initializeAdmin } from "firebase-admin/app";
import { getFirestore as getAdminFirestore } from "firebase-admin/firestore";

const projectId = fromEnvironment("GCLOUD_PROJECT");
const firestoreHost = fromEnvironment("FIRESTORE_EMULATOR_HOST");

function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set. Run this against the emulators: npm run emulators -- "<command>"`);
  return value;
}

// Cut connections and refused writes are what these tests are about; the SDK need not report them.
setLogLevel("silent");

/** Past the rules. */
export const admin = getAdminFirestore(initializeAdmin({ projectId }));

/** An admin that reaches Firestore at another address: a proxy's. Or of another project. */
export function adminAt(host: string, project = projectId): { firestore: AdminFirestore; close(): Promise<void> } {
  // The SDK asks the environment for an emulator's address, when it is made.
  process.env.FIRESTORE_EMULATOR_HOST = host;
  const firestore = new AdminFirestore({ projectId: project });
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
 * A client instance of its own, with its own connection.
 *
 * @param host     another address of Firestore: a proxy's
 * @param project  another project, which the functions do not watch
 */
export function client(host = firestoreHost, project = projectId): Client {
  const app = initializeApp({ projectId: project, apiKey: "any" }, `client-${made++}`);
  const db = getFirestore(app);
  const [name, port] = host.split(":");
  connectFirestoreEmulator(db, name as string, Number(port));
  return { app, db, close: () => deleteApp(app) };
}

/** Signs a client in as a new anonymous user. @returns its uid */
export async function signIn({ app }: Client): Promise<string> {
  const auth = getAuth(app);
  connectAuthEmulator(auth, `http://${process.env.FIREBASE_AUTH_EMULATOR_HOST}`, { disableWarnings: true });
  return (await signInAnonymously(auth)).user.uid;
}

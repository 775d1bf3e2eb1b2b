/** The project of the rules tests: its users, its documents, and valid writes that a test can change. */
import { readFileSync } from "node:fs";
import { initializeTestEnvironment, type RulesTestEnvironment } from "@firebase/rules-unit-testing";
import {
  arrayUnion,
  Bytes,
  collection,
  doc,
  type Firestore,
  getDocs,
  increment,
  serverTimestamp,
  setDoc,
  setLogLevel,
} from "firebase/firestore";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { LIMITED, withLimits } from "./limitedRules.ts";

setLogLevel("silent");
/** Its own project, so that no function watches it and the coverage is that of these tests alone. */
export const PROJECT = "demo-tally-rules";
export let environment: RulesTestEnvironment;
export let anyone: Firestore;
export let alice: Firestore;
export let bob: Firestore;

/** A project of the emulator with the default rules, and limits (`limitedRules.ts`). */
export async function newEnvironment(projectId: string): Promise<RulesTestEnvironment> {
  const [host = "", port] = (process.env.FIRESTORE_EMULATOR_HOST ?? "").split(":");
  const rules = withLimits(readFileSync("firestore.rules", "utf8"), LIMITED.policy, LIMITED.matches);
  return await initializeTestEnvironment({ projectId, firestore: { host, port: Number(port), rules } });
}

beforeAll(async () => {
  environment = await newEnvironment(PROJECT);
  // The types of the bundled SDKs differ, their behaviour does not.
  anyone = environment.unauthenticatedContext().firestore() as unknown as Firestore;
  alice = environment.authenticatedContext("alice").firestore() as unknown as Firestore;
  bob = environment.authenticatedContext("bob").firestore() as unknown as Firestore;
});
beforeEach(() => environment.clearFirestore());
afterAll(() => environment.cleanup());

export const shard = (db: Firestore, id = "0", counter = "views:home") => doc(db, `counters/${counter}/shards/${id}`);
export const entry = (db: Firestore, key: string, counter = "likes:post") =>
  doc(db, `counters/${counter}/entries/${key}`);

export const bytes = (...values: number[]) => Bytes.fromUint8Array(Uint8Array.from(values));
let nonces = 0;
/** Four unique bytes. */
export const nonce = () => bytes(nonces >> 24, nonces >> 16, nonces >> 8, nonces++);
export const window = (...nonces: unknown[]) => ({ at: serverTimestamp(), nonces: arrayUnion(...nonces) });
export const NOW = "7";

/** A valid increment of shard 0, with some fields replaced. */
export const incrementData = (changes: object = {}) => ({
  shard: "0",
  count: increment(1),
  writes: increment(1),
  at: serverTimestamp(),
  marks: { [NOW]: window(nonce()) },
  ...changes,
});
export const merge = { merge: true };

export async function writeAsAdmin(path: string, data: object, project = environment): Promise<void> {
  await project.withSecurityRulesDisabled((context) =>
    setDoc(doc(context.firestore() as unknown as Firestore, path), data),
  );
}

/** The sum of a counter's shards. */
export async function sumOf(counter: string): Promise<number> {
  let sum = 0;
  await environment.withSecurityRulesDisabled(async (context) => {
    const shards = await getDocs(collection(context.firestore() as unknown as Firestore, `counters/${counter}/shards`));
    for (const one of shards.docs) sum += one.get("count");
  });
  return sum;
}

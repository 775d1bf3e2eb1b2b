/** The governor in front of the emulator: it limits writes to one document. `testkit/writeLimiter.test.ts` has what it decides. */
import { setTimeout as sleep } from "node:timers/promises";
import { initializeTestEnvironment, type RulesTestEnvironment } from "@firebase/rules-unit-testing";
import { v1 } from "@google-cloud/firestore";
import { credentials } from "@grpc/grpc-js";
import { doc, type Firestore, increment, setDoc } from "firebase/firestore";
import { FieldValue } from "firebase-admin/firestore";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { admin, adminAt, client } from "../../testkit/clients.ts";
import { governor } from "../../testkit/governor.ts";
import { type GrpcProxy, startProxy } from "../../testkit/grpcProxy.ts";
import { callSteadily } from "../../testkit/traffic.ts";

const EMULATOR = process.env.FIRESTORE_EMULATOR_HOST as string;
const PER_SECOND = 100;
const SECONDS = 2;

/** A project without functions, whose rules allow every write. */
const PROJECT = "demo-governor";
const OPEN = "service cloud.firestore { match /databases/{any}/documents { match /{all=**} { allow read, write; } } }";

const limits = { perSecond: 5, burst: 5, longestWait: 1_000 };
const proxies: GrpcProxy[] = [];
let environment: RulesTestEnvironment;

async function governed(options = limits) {
  const { governed: counts, inspection } = governor(options);
  const proxy = await startProxy(EMULATOR, [inspection]);
  proxies.push(proxy);
  return { counts, address: proxy.address };
}

beforeAll(async () => {
  const [host, port] = EMULATOR.split(":");
  const firestore = { host: host as string, port: Number(port), rules: OPEN };
  environment = await initializeTestEnvironment({ projectId: PROJECT, firestore });
  await environment.clearFirestore();
});
afterAll(async () => {
  for (const proxy of proxies) proxy.close();
  await environment.cleanup();
});

/** Commits to one document without the retries of an SDK, so that each is acknowledged or rejected once. */
async function commits(address: string) {
  const folder = `governor${Math.random()}`;
  const [servicePath = "", port] = address.split(":");
  const raw = new v1.FirestoreClient({ servicePath, port: Number(port), sslCreds: credentials.createInsecure() });
  const database = `projects/${PROJECT}/databases/(default)`;
  const increase = { fieldPath: "count", increment: { integerValue: 1 } };
  const headers = { authorization: "Bearer owner" };
  const durations: number[] = [];
  const refusals = new Set<string>();
  await callSteadily(PER_SECOND, SECONDS, async () => {
    const name = `${database}/documents/${folder}/hot`;
    const writes = [{ update: { name }, updateMask: {}, updateTransforms: [increase] }];
    const start = performance.now();
    try {
      await raw.commit({ database, writes }, { otherArgs: { headers }, retry: null });
      durations.push(performance.now() - start);
    } catch (error) {
      refusals.add((error as Error).message);
    }
  });
  await raw.close();
  let total = 0;
  await environment.withSecurityRulesDisabled(async (context) => {
    const { docs } = await context.firestore().collection(folder).get();
    for (const document of docs) total += document.get("count");
  });
  return { durations: durations.sort((a, b) => a - b), refusals, total };
}

test("of 100 writes per second the sustained rate is accepted with delay, the rest is ABORTED, and all acknowledged are stored", async () => {
  const { counts, address } = await governed();
  const { durations, refusals, total } = await commits(address);
  const served = limits.burst + limits.perSecond * (SECONDS + limits.longestWait / 1_000);
  expect(durations.length).toBeGreaterThan(served * 0.8);
  expect(durations.length).toBeLessThan(served * 1.2);
  expect(durations[Math.floor(durations.length / 2)]).toBeGreaterThan(limits.longestWait / 2);
  expect([...refusals]).toEqual(["10 ABORTED: Too much contention on these documents. Please try again."]);
  expect(counts.aborted).toBe(PER_SECOND * SECONDS - durations.length);
  expect(total).toBe(durations.length);
});

test("the web SDK retries a rejected write until it is accepted once, and later writes wait in order", async () => {
  const { counts, address } = await governed({ perSecond: 1, burst: 2, longestWait: 0 });
  const { db, close } = client(address, PROJECT);
  const acknowledged: string[] = [];
  const write = (db: Firestore, id: string, n: number) =>
    setDoc(doc(db, `web/${id}`), { count: increment(1) }, { merge: true }).then(() => acknowledged.push(`${id} ${n}`));
  await Promise.all([write(db, "hot", 1), write(db, "hot", 2), write(db, "hot", 3), write(db, "cold", 1)]);
  expect(acknowledged).toEqual(["hot 1", "hot 2", "hot 3", "cold 1"]);
  expect(counts.aborted).toBeGreaterThan(0);
  await environment.withSecurityRulesDisabled(async (context) => {
    expect((await context.firestore().doc("web/hot").get()).get("count")).toBe(3);
  });
  await close();
});

describe("a read-write transaction that has read a document", () => {
  const latency = 60;
  const ref = "locked/1";

  /** Durations of another writer's writes, in ascending order, during transactions over a slow network. */
  async function writeDurations(readOnly: boolean): Promise<number[]> {
    const proxy = await startProxy(EMULATOR, [], { latency });
    proxies.push(proxy);
    const { firestore, close } = adminAt(proxy.address);
    await admin.doc(ref).set({ count: 0 });
    const transactions = (async () => {
      for (let n = 0; n < 5; n++) {
        await firestore.runTransaction(
          async (transaction) => {
            await transaction.get(firestore.doc(ref));
            if (!readOnly) transaction.update(firestore.doc(ref), { read: FieldValue.increment(1) });
          },
          { readOnly },
        );
      }
    })();
    const durations: number[] = [];
    let done = false;
    transactions.finally(() => {
      done = true;
    });
    while (!done) {
      const start = performance.now();
      await admin.doc(ref).update({ count: FieldValue.increment(1) });
      durations.push(performance.now() - start);
      await sleep(1);
    }
    await transactions;
    await close();
    return durations.sort((a, b) => a - b);
  }

  test("blocks other writers during its round trips, by the emulator's own locks", async () => {
    // Two one-way latencies: the answer of the read, and the commit.
    expect((await writeDurations(false)).at(-1)).toBeGreaterThan(1.8 * latency);
  });

  test("blocks no writer if it is read-only", async () => {
    const durations = await writeDurations(true);
    expect(durations[Math.floor(durations.length * 0.9)]).toBeLessThan(latency);
  });
});

/**
 * Marks in windows under load: hundreds of clients write one shard over connections that break, and no replay counts twice.
 * The client here is a minimal implementation of the contract. The simulation runs the client of the package.
 */
import { expect, test } from "vitest";
import { MARK_WINDOW_MILLIS, MARK_WINDOWS, NONCE_BYTES } from "../../core/src/layout.ts";
import { randomFor } from "../../core/testing/random.ts";
import { Faults } from "./faults.ts";
import * as adminSdk from "./model/adminSdk.ts";
import { connect, createNetwork } from "./model/createNetwork.ts";
import { type Fields, type Micros, microsOf } from "./model/values.ts";
import * as webSdk from "./model/webSdk.ts";
import { IncrementCheck } from "./oracle/increments.ts";

const SECOND: Micros = 1_000_000;
const SHARD = "counters/views:a/shards/0";

async function increment(firestore: webSdk.Firestore): Promise<void> {
  const { process, network } = firestore.connection;
  const name = (Math.floor(network.scheduler.now / 1_000 / MARK_WINDOW_MILLIS) % MARK_WINDOWS).toString(16);
  const nonce = webSdk.Bytes.fromUint8Array(
    Uint8Array.from({ length: NONCE_BYTES }, () => process.random.integer(0, 255)),
  );
  const at = webSdk.serverTimestamp();
  const data = {
    shard: "0",
    count: webSdk.increment(1),
    writes: webSdk.increment(1),
    at,
    marks: { [name]: { at, nonces: webSdk.arrayUnion(nonce) } },
  };
  const ref = webSdk.doc(firestore, SHARD);
  try {
    await webSdk.setDoc(ref, data, { merge: true });
  } catch (error) {
    const snapshot = await webSdk.runTransaction(firestore, (transaction) => transaction.get(ref), {
      maxAttempts: 1e9,
    });
    const nonces = (snapshot.get(`marks.${name}.nonces`) ?? []) as webSdk.Bytes[];
    if (!nonces.some((one) => nonce.isEqual(one))) throw error;
  }
}

/** @param age  the age at which a server, which bypasses the rules, removes windows */
async function simulateCrowd(
  seed: number,
  age: Micros,
): Promise<{ violation?: string | undefined; cuts: number; count: unknown }> {
  let violation: string | undefined;
  const faults = new Faults(["cut connections"], 0.3, 100_000);
  const increments = new IncrementCheck((invariant, message) => {
    violation ??= `${invariant}: ${message}`;
  });
  const network = createNetwork({
    faults,
    onCommit({ process, time, changes }) {
      for (const change of changes) {
        const by = Number(change.after.fields?.count) - Number(change.before.fields?.count ?? 0);
        increments.followWrite(change, { process, counter: "views:a", by, time }, false);
        if (by !== 0) increments.committed(process, "views:a", by);
      }
    },
  });
  const { scheduler, database } = network;
  const random = randomFor(seed, "crowd");
  for (let i = 0; i < 200; i++) {
    const firestore = new webSdk.Firestore(connect(network, `client ${i}`, seed));
    const { process } = firestore.connection;
    for (let j = 0; j < 3; j++) {
      scheduler.after(random.next() * 5 * SECOND, () => {
        const { acknowledged } = increments.begin(process, "views:a", 1);
        increment(firestore).then(acknowledged, () => increments.rejected(process, "views:a", 1));
      });
    }
  }
  const server = new adminSdk.Firestore(connect(network, "server", seed));
  const remove = () => {
    const marks = (database.get(SHARD).fields?.marks ?? {}) as Fields;
    const old = Object.keys(marks).filter((name) => scheduler.now - microsOf((marks[name] as Fields).at) > age);
    const removals = Object.fromEntries(old.map((name) => [`marks.${name}`, adminSdk.FieldValue.delete()]));
    if (old.length > 0) server.doc(SHARD).update(removals);
  };
  for (let second = 1; second < 300; second++) scheduler.after(second * SECOND, remove);
  await scheduler.runUntil(scheduler.now + 600 * SECOND);
  increments.atEnd();
  return { violation, cuts: faults.injected["cut connections"] ?? 0, count: database.get(SHARD).fields?.count };
}

test("I5: in a crowd, no replay counts twice within two minutes", { timeout: 60_000 }, async () => {
  for (let seed = 1; seed <= 5; seed++) {
    const { violation, cuts, count } = await simulateCrowd(seed, 120 * SECOND);
    expect(violation, `seed ${seed}`).toBeUndefined();
    expect(count).toBe(600);
    expect(cuts).toBeGreaterThan(50);
  }
});

test("the check reports windows that are removed too early", { timeout: 60_000 }, async () => {
  const { violation } = await simulateCrowd(1, 2 * SECOND);
  expect(violation).toMatch(/^I5: client \d+ (counted twice on|was rejected)/);
});

/**
 * Reconciling a counter with its source of truth on demand: exact during writes, and once for concurrent calls. Reconciling
 * on schedule is in reconcileSchedule.test.ts.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Firestore } from "firebase-admin/firestore";
import {
  type CounterReconciliation,
  getExactTotal,
  incrementCounterIn,
  reconcileCounter,
  resetCounter,
  setCounterSource,
} from "firestore-tally/admin";
import { afterEach, describe, expect, test, vi } from "vitest";
import { fold } from "../../functions/src/counter/fold.ts";
import { admin, adminAt } from "../../testkit/clients.ts";
import { startMeter } from "../../testkit/meter.ts";
import { sumOfIncrements } from "../../testkit/storedCounter.ts";
import { cuttingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";
import { correctionsOf, newCounter, newUnwatchedCollection, type SourcedCounter } from "./sourcedCounter.ts";

afterEach(() => vi.unstubAllEnvs());

/** How long a shard is without writes before it is folded. */
const QUIET_MS = 40;

/** Creates documents, each in one commit with its increment, and deletes every fourth in the same way. */
function atomicTraffic({ ref, source }: SourcedCounter, writers = 6) {
  let isOn = true;
  let commits = 0;
  const write = async (writer: number) => {
    for (let n = 0; isOn; n++) {
      const document = admin.collection(source).doc(`${writer}-${n}`);
      if (n % 3 === 2) {
        await admin.runTransaction(async (transaction) => {
          transaction.create(document, { n });
          incrementCounterIn(transaction, ref);
        });
      } else {
        const batch = admin.batch();
        batch.create(document, { n });
        incrementCounterIn(batch, ref);
        await batch.commit();
      }
      if (n % 4 === 3) {
        const batch = admin.batch();
        batch.delete(document, { exists: true });
        incrementCounterIn(batch, ref, -1);
        await batch.commit();
        commits++;
      }
      commits++;
      await sleep(5);
    }
  };
  const done = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  return {
    get commits() {
      return commits;
    },
    async stop() {
      isOn = false;
      await done;
    },
  };
}

async function documents(source: string): Promise<number> {
  return (await admin.collection(source).count().get()).data().count;
}

describe("I5: a correction changes the sum by the drift alone", () => {
  test("during atomic commits and folds there is no drift, and nothing is written", async () => {
    const it = newCounter("atomic", admin, newUnwatchedCollection());
    // With this many shards, each is without writes for long enough to be folded.
    await admin.doc(it.ref.path).set({ shardCount: 100 });
    const shards = admin.collection(`${it.ref.path}/shards`);
    const traffic = atomicTraffic(it);
    const found: CounterReconciliation[] = [];
    let folded = 0;
    const isEnough = () => traffic.commits >= 150 && folded >= 2 && found.length >= 10;
    const folding = (async () => {
      while (!isEnough()) {
        // Only shards without recent writes. A batch with any other shard would fail its precondition.
        folded += (await fold(shards, 0, Date.now() - QUIET_MS)).folded;
      }
    })();
    const reconciling = Array.from({ length: 3 }, async () => {
      while (!isEnough()) found.push(await reconcileCounter(it.ref, { source: { collection: it.source } }));
    });
    await Promise.all([folding, ...reconciling]);
    await traffic.stop();
    for (const { expected, drift, corrected } of found)
      expect([expected, drift, corrected]).toEqual([expected, 0, false]);
    expect(new Set(found.map(({ expected }) => expected)).size).toBeGreaterThan(2);
    expect((await admin.collection(`${it.ref.path}/tallyCorrections`).get()).size).toBe(0);
    expect(await getExactTotal(it.ref)).toBe(await documents(it.source));
  });

  test("ten concurrent calls correct a drift once, and one of them reports it", async () => {
    const it = newCounter("once");
    await admin.doc(`${it.source}/one`).set({});
    await admin.doc(`${it.source}/two`).set({});
    const source = { collection: it.source };
    const all = await Promise.all(Array.from({ length: 10 }, () => reconcileCounter(it.ref, { source })));
    expect(all.filter(({ corrected }) => corrected)).toMatchObject([{ expected: 2, found: 0, drift: 2 }]);
    expect(await sumOfIncrements(it.id)).toBe(2);
    expect(await correctionsOf(it.id)).toMatchObject([{ source, expected: 2, found: 0, by: 2 }]);
  });

  test("a call whose connection is cut after the commit corrects once, and reports it", async () => {
    const proxy = await cuttingProxy(process.env.FIRESTORE_EMULATOR_HOST as string);
    const { firestore, close } = adminAt(proxy.address);
    const newBatch = firestore.batch.bind(firestore);
    let isNext = false;
    // All reads are done when the batch is created.
    firestore.batch = () => {
      if (isNext) proxy.withhold();
      isNext = false;
      return newBatch();
    };
    for (let cut = 0; cut < 2; cut++) {
      const it = newCounter("cut", firestore as unknown as Firestore);
      // Every other counter has a base shard.
      if (cut % 2 === 0) await resetCounter(it.ref, 10);
      await admin.doc(`${it.source}/one`).set({});
      const found = await getExactTotal(it.ref);
      const base = admin.doc(`${it.ref.path}/shards/base`);
      isNext = true;
      const attempt = reconcileCounter(it.ref, { source: { collection: it.source } });
      await until(async () => (await base.get()).get("count") === 1, "the commit");
      proxy.cut();
      expect(await attempt).toMatchObject({ expected: 1, found, drift: 1 - found, corrected: true });
      expect(await sumOfIncrements(it.id)).toBe(1);
      expect(await correctionsOf(it.id)).toHaveLength(1);
    }
    await close();
    await proxy.close();
  });
});

test.each([
  ["as in the emulator", process.env.FIRESTORE_EMULATOR_HOST],
  ["as in production", undefined],
])("I6: reconciling takes no lock, and costs the documented reads and writes, %s", async (_where, host) => {
  const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
  const { firestore, close } = adminAt(meter.address);
  const { ref, source } = newCounter("meter", firestore as unknown as Firestore);
  await admin.doc(`${source}/one`).set({});
  // No function folds these shards.
  for (const shard of ["0", "theirs", "ours"]) await admin.doc(`${ref.path}/shards/${shard}`).set({ count: 1 });
  await setCounterSource(ref, { collection: source });
  const before = { ...meter.usage };
  // With this variable, reads name their snapshot by its time.
  vi.stubEnv("FIRESTORE_EMULATOR_HOST", host);
  expect(await reconcileCounter(ref)).toMatchObject({ expected: 1, found: 3, corrected: true });
  // Reads: the stored source, the aggregation, three shards, and whether it is bounded. Writes: base, the counter document and a correction.
  expect(meter.usage).toEqual({ reads: before.reads + 6, writes: before.writes + 3, deletes: 0 });
  expect(meter.calls.get("RunAggregationQuery")).toBe(1);
  expect(meter.calls.get("transaction")).toBeUndefined();
  await close();
  meter.close();
});

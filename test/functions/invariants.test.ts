/**
 * At least one test for each invariant of docs/architecture.md, named after it. Where a schedule of events matters, the backend's
 * own code runs in this process (testkit/inProcessBackend.ts). Everything else is the deployed functions.
 */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { deleteDoc, doc, getDoc, serverTimestamp, setDoc } from "firebase/firestore";
import { FieldValue, type WriteResult } from "firebase-admin/firestore";
import { counter, hasIncremented, incrementCounter, undoIncrement } from "firestore-tally";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aggregate } from "../../functions/src/aggregate.ts";
import type { Backend } from "../../functions/src/backend.ts";
import type { Cause, CounterTask, WriteEvent } from "../../functions/src/cause.ts";
import { readCounter } from "../../functions/src/counterDocument.ts";
import { fold } from "../../functions/src/fold.ts";
import { measureShards } from "../../functions/src/measure.ts";
import { publish } from "../../functions/src/publish.ts";
import { runTask } from "../../functions/src/runTask.ts";
import { runSweep } from "../../functions/src/sweep.ts";
import { toMillis } from "../../functions/src/time.ts";
import { createWakeHandler } from "../../functions/src/wake.ts";
import { idle } from "../../functions/testing/arbitraries.ts";
import { admin, adminAt, type Client, client, signIn } from "../../testkit/clients.ts";
import { invocations } from "../../testkit/deployedFunctions.ts";
import { eventHistories, inProcessBackend, playHistory, SNAPSHOT_LAG } from "../../testkit/inProcessBackend.ts";
import { startMeter } from "../../testkit/meter.ts";
import { readPublished, sumOfShards } from "../../testkit/storedCounter.ts";
import { incrementSteadily, possibleSums, publishGaps, watchTotals } from "../../testkit/traffic.ts";
import { until } from "../../testkit/until.ts";

const ID = "invariants:counter";

/** Writes an increment as a server does. @returns the event of the write */
async function write({ counters }: Backend, shard: string, by = 1): Promise<WriteEvent> {
  const result: WriteResult = await counters
    .doc(`${ID}/shards/${shard}`)
    .set({ shard, count: FieldValue.increment(by), writes: FieldValue.increment(1) }, { merge: true });
  return { counterId: ID, shardId: shard, committedAt: toMillis(result.writeTime) };
}

/** As {@link write}. @returns the events with a trigger: those of new shards and of shard 0 */
async function writeAsDeployed(backend: Backend, shard: string): Promise<WriteEvent[]> {
  const isNew = !(await backend.counters.doc(`${ID}/shards/${shard}`).get()).exists;
  const event = await write(backend, shard);
  return isNew || shard === "0" ? [{ ...event, isNew }] : [];
}

/** What an event asks for. */
const causeOf = ({ committedAt, shardId }: WriteEvent): Cause => ({ at: committedAt, isPoll: false, shardId });

async function state({ counters }: Backend): Promise<{ total: number; writes: number; asOf: number }> {
  const snapshot = await counters.doc(ID).get();
  return { total: snapshot.get("total"), writes: snapshot.get("writes"), asOf: toMillis(snapshot.get("asOf")) };
}

let writers: Client[];
beforeAll(() => {
  writers = Array.from({ length: 10 }, () => client());
});
afterAll(async () => {
  await Promise.all(writers.map((one) => one.close()));
});

test("I1: every total ever published equals the sum of the increments committed at or before its asOf", async () => {
  const id = "invariant:1";
  const watcher = client();
  const seen = await watchTotals(watcher, id);
  const commits: { at: number; by: number }[] = [];
  await Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      // Long enough for several totals, however long the first functions take to start.
      for (let n = 0; n < 60 || (seen.seen.length < 4 && n < 400); n++) {
        const by = ((writer * 7 + n * 3) % 11) - 4;
        const shard = String((writer * 5 + n) % 12);
        const result = await admin
          .doc(`counters/${id}/shards/${shard}`)
          .set({ shard, count: FieldValue.increment(by), writes: FieldValue.increment(1) }, { merge: true });
        commits.push({ at: toMillis(result.writeTime), by });
        await sleep(40);
      }
    }),
  );
  const sum = (until: number) => commits.filter(({ at }) => at <= until).reduce((all, { by }) => all + by, 0);
  await seen.reached(sum(Number.POSITIVE_INFINITY));
  expect(seen.seen.length).toBeGreaterThanOrEqual(3);
  for (const { total, asOf } of seen.seen) {
    const at = (asOf?.seconds ?? 0) * 1_000 + (asOf?.nanoseconds ?? 0) / 1e6;
    // Exactly, but for the commits of the last milliseconds, which the emulator may leave out.
    const recent = commits.filter((commit) => commit.at <= at && commit.at > at - SNAPSHOT_LAG);
    expect(possibleSums(sum(at - SNAPSHOT_LAG), recent)).toContain(total);
  }
  await watcher.close();
});

test("I4: there is at most one publish per interval, with any number of writers and instances", async () => {
  const id = "invariant:4";
  const watcher = client();
  const seen = await watchTotals(watcher, id);
  const { acknowledged } = await incrementSteadily(writers, id, 150, 6);
  await seen.reached(acknowledged);
  expect(publishGaps(seen).length).toBeGreaterThanOrEqual(3);
  expect(Math.min(...publishGaps(seen))).toBeGreaterThanOrEqual(1_000);
  await watcher.close();
});

test("I8: a keyed increment counts once per key, when it is sent several times, and never without its entry", async () => {
  const id = "likes:invariant-8";
  const users = Array.from({ length: 4 }, () => client());
  const uids = await Promise.all(users.map(signIn));
  const refs = users.map(({ db }) => counter(db, id));
  const like = (n: number) => incrementCounter(refs[n] as (typeof refs)[0], 1, { key: uids[n] as string });
  await Promise.all(Array.from({ length: 20 }, (_, n) => like(n % users.length)));
  expect(await sumOfShards(id)).toBe(users.length);
  // Several undos count once, and so do several increments after them.
  await Promise.all(Array.from({ length: 5 }, () => undoIncrement(refs[0] as (typeof refs)[0], uids[0] as string)));
  expect(await sumOfShards(id)).toBe(users.length - 1);
  await like(0);
  await like(0);
  expect(await hasIncremented(refs[0] as (typeof refs)[0], uids[0] as string)).toBe(true);

  // An entry can be neither deleted nor created without its increment.
  const { db } = users[1] as Client;
  const key = uids[1] as string;
  const entry = doc(db, `counters/${id}/entries/${key}`);
  const shard = (await getDoc(entry)).get("shard");
  await expect(deleteDoc(entry)).rejects.toMatchObject({ code: "permission-denied" });
  const other = doc(db, `counters/likes:invariant-8b/entries/${key}`);
  const alone = { by: 1, shard, at: serverTimestamp() };
  await expect(setDoc(other, alone)).rejects.toMatchObject({ code: "permission-denied" });

  await until(async () => (await readPublished(id))?.total === users.length, "the total");
  expect((await admin.collection(`counters/${id}/entries`).get()).size).toBe(users.length);
  expect(await sumOfShards(id)).toBe(users.length);
  await Promise.all(users.map((user) => user.close()));
});

// These tests use collections of their own, so they run concurrently while the deployed functions become idle.
describe.concurrent("while the deployed functions become idle", () => {
  test("I2: every write is counted when events are late, duplicated, out of order or lost once, and instances die anywhere", {
    tags: ["deep"],
  }, async () => {
    await fc.assert(
      fc.asyncProperty(eventHistories, async (history) => {
        const { backend, tasks } = inProcessBackend();
        let written = 0;
        await playHistory(history, { backend, tasks }, async (choice) => {
          written++;
          return await writeAsDeployed(backend, String(choice % 6));
        });
        if (written > 0) expect(await state(backend)).toMatchObject({ total: written, writes: written });
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });

  test("I3: a late aggregation never overwrites a newer total", async () => {
    const { backend } = inProcessBackend();
    const ref = backend.counters.doc(ID);
    await aggregate(backend, await readCounter(ref), causeOf(await write(backend, "0")));
    await sleep(backend.config.minInterval);

    // One aggregation measures, and another publishes before it.
    const before = await readCounter(ref);
    const late = await measureShards(ref.collection("shards"), 1);
    await aggregate(backend, await readCounter(ref), causeOf(await write(backend, "1")));
    const newer = await state(backend);
    expect(newer.total).toBe(2);

    const old = { ...idle, total: late.total, writes: 1, publishes: 2, asOf: toMillis(late.asOf) };
    const published = await publish(before, old, late.asOf, backend.config);
    expect(published).toBeUndefined();
    expect(await state(backend)).toEqual(newer);

    // The whole aggregation, started with an outdated counter document, reads it again.
    const third = await write(backend, "2");
    await aggregate(backend, before, causeOf(third));
    const { total, asOf } = await state(backend);
    expect(total === 3 || asOf === newer.asOf).toBe(true);
  });

  test("I4: instances that share no memory agree on when the next publish is due", async () => {
    // Long enough for slow writes during the other tests.
    const { backend, tasks } = inProcessBackend({ minInterval: 5_000, maxInterval: 5_000 });
    const instances = Array.from({ length: 5 }, () => createWakeHandler(backend));
    await instances[0]?.(await write(backend, "0"));
    const { asOf } = await state(backend);
    for (const instance of instances) await instance(await write(backend, "1"));
    expect((await state(backend)).asOf).toBe(asOf);
    expect(tasks).toHaveLength(1);
    await runTask(backend, tasks[0] as CounterTask);
    expect((await state(backend)).total).toBe(6);
    expect((await state(backend)).asOf - asOf).toBeGreaterThanOrEqual(backend.config.minInterval);
  });

  test("I5: folds do not change the sum during increments", async () => {
    // Without a cool-down, every shard beyond the first is folded between its writes.
    const { backend } = inProcessBackend({ shrinkCooldown: 0 });
    const shards = backend.counters.doc(ID).collection("shards");
    let written = 0;
    let folded = 0;
    let done = false;
    const writing = Promise.all(
      Array.from({ length: 6 }, async (_, writer) => {
        for (let n = 0; n < 80; n++) {
          await write(backend, String((writer + n) % 20));
          written++;
        }
      }),
    ).finally(() => {
      done = true;
    });
    while (!done) {
      const certain = written;
      await sleep(SNAPSHOT_LAG);
      expect((await measureShards(shards, 20)).total).toBeGreaterThanOrEqual(certain);
      // Only shards without recent writes. A batch with any other shard would fail its precondition.
      folded += (await fold(shards, 1, Date.now() - 30)).folded;
    }
    await writing;
    expect(folded).toBeGreaterThan(0);
    await sleep(SNAPSHOT_LAG);
    expect(await measureShards(shards, 20)).toMatchObject({ total: written, writes: written });
    await fold(shards, 1, Date.now() + 1_000);
    await sleep(SNAPSHOT_LAG);
    // Shard 0 and base.
    expect(await measureShards(shards, 20)).toMatchObject({ total: written, writes: written, documents: 2 });
  });

  test("I6: the backend takes no lock on a shard: no transaction, no read that locks", async () => {
    const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
    const { firestore, close } = adminAt(meter.address);
    const { backend, tasks } = inProcessBackend({ shrinkCooldown: 0 }, firestore);
    const wake = createWakeHandler(backend);
    for (let n = 0; n < 30; n++) await wake(await write(backend, String(n % 10)));
    // All tasks until the counter is idle, including a fold.
    for (let task = tasks.shift(); task; task = tasks.shift()) await runTask(backend, task);
    await runSweep(backend);

    expect(meter.usage.deletes).toBeGreaterThan(0);
    expect(Object.fromEntries(meter.calls)).not.toHaveProperty("transaction");
    expect(meter.calls.get("Commit")).toBeGreaterThan(30);
    await close();
    meter.close();
  });

  test("I7: without writes, no function runs", { tags: ["deep"], timeout: 150_000 }, async () => {
    const shard = { shard: "0", count: 1, writes: 1 };
    await admin.doc("counters/invariants:idle/shards/0").set(shard);
    await until(async () => (await readPublished("invariants:idle"))?.total === 1, "the total");
    expect(invocations("wake")).toBeGreaterThan(0);
    const names = ["wake", "wakezero", "wakebase", "aggregate", "sweep"] as const;
    const count = () => names.map(invocations).join();
    // First the counters of other tests become idle: no invocation for longer than the longest interval.
    let before = "";
    let since = 0;
    await until(
      async () => {
        if (count() !== before) [before, since] = [count(), performance.now()];
        else await sleep(250);
        return performance.now() - since > 11_000;
      },
      "the functions to become idle",
      120_000,
    );
    await sleep(4_000);
    expect(count()).toBe(before);
  });

  test("I7: a sweep with no counter to poll and nothing to reconcile costs two reads", async () => {
    const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
    const { firestore, close } = adminAt(meter.address);
    const { backend } = inProcessBackend({}, firestore);
    await runSweep(backend);
    // The SDK has its answer a moment before the meter counts the call.
    await until(() => meter.usage.reads >= 2, "both queries to be counted");
    expect(meter.usage).toEqual({ reads: 2, writes: 0, deletes: 0 });
    await close();
    meter.close();
  });
});

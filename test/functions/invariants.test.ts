/**
 * Invariants of docs/architecture.md on the real Firestore: the backend's own code, with intervals that the test chooses, whose events
 * and tasks the test delivers (testkit/inProcessBackend.ts). Those that clients keep are in test/client and test/rules.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { FieldValue, type WriteResult } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { aggregate } from "../../functions/src/counter/aggregate.ts";
import type { Backend } from "../../functions/src/counter/backend.ts";
import type { Cause, WriteEvent } from "../../functions/src/counter/cause.ts";
import { readCounter } from "../../functions/src/counter/counterDocument.ts";
import { fold } from "../../functions/src/counter/fold.ts";
import { measureShards } from "../../functions/src/counter/measure.ts";
import { publish } from "../../functions/src/counter/publish.ts";
import { toMillis } from "../../functions/src/counter/time.ts";
import { createWakeHandler } from "../../functions/src/counter/wake.ts";
import { runSweep } from "../../functions/src/deploy/runSweep.ts";
import { runTask } from "../../functions/src/deploy/runTask.ts";
import { idle } from "../../functions/testing/arbitraries.ts";
import { inProcessBackend, SNAPSHOT_LAG } from "../../testkit/inProcessBackend.ts";
import { metered } from "../../testkit/metered.ts";
import { possibleSums } from "../../testkit/traffic.ts";

const ID = "invariants:counter";

/** Writes an increment as a server does. @returns the event of the write */
async function write({ counters }: Backend, shard: string, by = 1): Promise<WriteEvent> {
  const result: WriteResult = await counters
    .doc(`${ID}/shards/${shard}`)
    .set({ shard, count: FieldValue.increment(by), writes: FieldValue.increment(1) }, { merge: true });
  return { counterId: ID, shardId: shard, committedAt: toMillis(result.writeTime) };
}

/** What an event asks for. */
const causeOf = ({ committedAt, shardId }: WriteEvent): Cause => ({ at: committedAt, isPoll: false, shardId });

/** What is published. */
async function state({ counters }: Backend) {
  const snapshot = await counters.doc(ID).get();
  if (!snapshot.exists) return undefined;
  return { total: snapshot.get("total"), writes: snapshot.get("writes"), asOf: toMillis(snapshot.get("asOf")) };
}

describe.concurrent("on the real Firestore", () => {
  test("I1, I3, I4: each total is the sum of the increments up to its asOf, and at least an interval after the one before", async () => {
    const { backend, tasks } = inProcessBackend({ maxInterval: 400 });
    // They share no memory.
    const instances = Array.from({ length: 4 }, () => createWakeHandler(backend));
    const commits: { at: number; by: number }[] = [];
    const seen: NonNullable<Awaited<ReturnType<typeof state>>>[] = [];
    const running: Promise<void>[] = [];
    const sum = (until: number) => commits.filter(({ at }) => at <= until).reduce((all, { by }) => all + by, 0);
    let isWriting = true;
    const writing = Array.from({ length: 4 }, async (_, writer) => {
      for (let n = 0; n < 15 || seen.length < 4; n++) {
        const by = ((writer * 7 + n * 3) % 11) - 4;
        const event = await write(backend, String((writer * 5 + n) % 12), by);
        commits.push({ at: event.committedAt, by });
        await instances[n % 4]?.({ ...event, isNew: false });
        await sleep(20);
      }
    });
    const watching = (async () => {
      while (isWriting || seen.at(-1)?.total !== sum(Number.POSITIVE_INFINITY)) {
        const current = await state(backend);
        if (current && current.asOf !== seen.at(-1)?.asOf) seen.push(current);
        for (const task of tasks.splice(0)) running.push(runTask(backend, task));
        await sleep(10);
      }
    })();
    await Promise.all(writing);
    isWriting = false;
    await watching;
    await Promise.all(running);
    for (const [n, { total, asOf }] of seen.entries()) {
      // Exactly, but for the commits of the last milliseconds, which the emulator may leave out.
      const recent = commits.filter(({ at }) => at <= asOf && at > asOf - SNAPSHOT_LAG);
      expect(possibleSums(sum(asOf - SNAPSHOT_LAG), recent)).toContain(total);
      if (n > 0) expect(asOf - (seen[n - 1]?.asOf ?? 0)).toBeGreaterThanOrEqual(backend.config.minInterval);
    }
  });

  test("I3: a late aggregation never overwrites a newer total", async () => {
    const { backend } = inProcessBackend({ minInterval: 50 });
    const ref = backend.counters.doc(ID);
    await aggregate(backend, await readCounter(ref, backend.features), causeOf(await write(backend, "0")));
    await sleep(backend.config.minInterval);

    // One aggregation measures, and another publishes before it.
    const before = await readCounter(ref, backend.features);
    const late = await measureShards(ref.collection("shards"), 1);
    await aggregate(backend, await readCounter(ref, backend.features), causeOf(await write(backend, "1")));
    const newer = await state(backend);
    expect(newer?.total).toBe(2);

    const old = { ...idle, total: late.total, writes: 1, publishes: 2, asOf: toMillis(late.asOf) };
    const published = await publish(backend, before, old, late.asOf);
    expect(published).toBeUndefined();
    expect(await state(backend)).toEqual(newer);

    // The whole aggregation, started with an outdated counter document, reads it again.
    const third = await write(backend, "2");
    await aggregate(backend, before, causeOf(third));
    const last = await state(backend);
    expect(last?.total === 3 || last?.asOf === newer?.asOf).toBe(true);
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
        for (let n = 0; n < 30 || folded === 0; n++) {
          await write(backend, String((writer + n) % 20));
          written++;
          if (n % 10 === 9) await sleep(200);
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

  test("a fold tells when the last of the shards that it leaves was written", async () => {
    const { backend } = inProcessBackend();
    const shards = backend.counters.doc(ID).collection("shards");
    const [first, last] = [await write(backend, "1"), await write(backend, "2")];
    expect(await fold(shards, 1, first.committedAt)).toMatchObject({ folded: 1, lastWritten: last.committedAt });
    expect(await fold(shards, 1, last.committedAt)).toMatchObject({ folded: 1, lastWritten: undefined });
  });

  test("I6: the backend takes no lock on a shard: no transaction, no read that locks", async () => {
    const { firestore, usage, calls, close } = await metered();
    const { backend, tasks } = inProcessBackend({ shrinkCooldown: 0, maxInterval: 200 }, firestore);
    const wake = createWakeHandler(backend);
    for (let n = 0; n < 12; n++) await wake(await write(backend, String(n % 6)));
    // All tasks until the counter is idle, including a fold.
    for (let task = tasks.shift(); task; task = tasks.shift()) await runTask(backend, task);
    await runSweep(backend);

    expect(usage.deletes).toBeGreaterThan(0);
    expect(Object.fromEntries(calls)).not.toHaveProperty("transaction");
    expect(calls.get("Commit")).toBeGreaterThan(12);
    await close();
  });
});

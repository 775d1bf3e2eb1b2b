/**
 * What the functions can be made to spend by what the default rules accept, as counted on the wire: the figures of
 * docs/security.md. The backend's own code runs in this process; intervals are a third or less of the defaults.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { FieldValue } from "firebase-admin/firestore";
import { afterAll, describe, expect, test } from "vitest";
import { type Meter, startMeter, type Usage } from "../bench/meter.ts";
import { runTask } from "../functions/src/aggregate.ts";
import type { Backend } from "../functions/src/backend.ts";
import { toMillis } from "../functions/src/counter.ts";
import { timers } from "../functions/src/queue.ts";
import { sweep } from "../functions/src/sweep.ts";
import { createWake } from "../functions/src/wake.ts";
import { admin, adminAt } from "./support/app.ts";

/** The emulator's snapshots may miss commits of the last few milliseconds (see backend.ts). */
const MARGIN = 50;
const COOLDOWN = 1_500;

interface Target {
  readonly backend: Backend;
  readonly wake: ReturnType<typeof createWake>;
  readonly meter: Meter;
}

const targets: { close(): Promise<void> }[] = [];
let made = 0;

/** Functions that watch a collection of their own, and what they use of Firestore. */
async function target(): Promise<Target> {
  const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
  const { firestore, close } = adminAt(meter.address);
  targets.push({ close: () => close().finally(meter.close) });
  const collection = `hostile${process.pid}x${made++}`;
  const backend: Backend = {
    firestore,
    counters: firestore.collection(collection),
    config: {
      collection,
      minShards: 1,
      maxShards: 1_000,
      writesPerShard: 1,
      shrinkCooldown: COOLDOWN,
      minInterval: 300,
      maxInterval: 2_000,
      precision: 0.001,
      budget: 0.25,
      counted: undefined,
      mirrors: [],
      historyRetention: 0,
    },
    margin: MARGIN,
    now: Date.now,
    sleep: (duration) => (duration > 0 ? sleep(duration) : Promise.resolve()),
    schedule: timers((task) => runTask(backend, task), Date.now),
  };
  return { backend, wake: createWake(backend), meter };
}
afterAll(() => Promise.all(targets.map((one) => one.close())));

/** One commit of increments, past the functions' meter. @returns what becomes of the events Firestore sends for it */
async function commit(
  { backend, wake }: Target,
  writes: [counter: string, shard: string][],
): Promise<() => Promise<void>> {
  const batch = admin.batch();
  for (const [counter, shard] of writes) {
    batch.set(
      admin.doc(`${backend.config.collection}/${counter}/shards/${shard}`),
      { count: FieldValue.increment(1), writes: FieldValue.increment(1) },
      { merge: true },
    );
  }
  const refs = writes.map(([counter, shard]) => admin.doc(`${backend.config.collection}/${counter}/shards/${shard}`));
  const before = await admin.getAll(...refs, { fieldMask: [] });
  const [result] = await batch.commit();
  const committedAt = toMillis((result as FirebaseFirestore.WriteResult).writeTime);
  const events = writes
    .map(([counterId, shardId], i) => ({ counterId, shardId, isNew: !before[i]?.exists, committedAt }))
    .filter(({ shardId, isNew }) => isNew || shardId === "0");
  return async () => {
    await Promise.all(events.map(wake));
  };
}

function since({ meter: { usage } }: Target, before: Usage): Usage {
  const { reads, writes, deletes } = usage;
  return { reads: reads - before.reads, writes: writes - before.writes, deletes: deletes - before.deletes };
}

describe.concurrent("for each new counter", () => {
  const COUNTERS = 20;
  /** So much for each counter; and a sweep also asks, by 1 read, which counters are due to be reconciled. */
  const all = (reads: number, writes: number, deletes: number, sweeps = 0): Usage => ({
    reads: reads * COUNTERS + sweeps,
    writes: writes * COUNTERS,
    deletes: deletes * COUNTERS,
  });
  const onShard = (shard: string) => Array.from({ length: COUNTERS }, (_, n): [string, string] => [`junk:${n}`, shard]);

  test("the functions make 1 read and 1 write, and never return to it", async () => {
    const victim = await target();
    const events = await commit(victim, onShard("0"));
    await sleep(2 * MARGIN);
    await events();
    expect(victim.meter.usage).toEqual(all(1, 1, 0));
    await sweep(victim.backend);
    // An idle one asks twice.
    expect(victim.meter.usage.reads).toBe(COUNTERS + 2);
  });

  test("on a shard out of the way, they make 11 reads at most, 3 writes and 1 delete, and never return to it", async () => {
    const victim = await target();
    const events = await commit(victim, onShard("9999"));
    await sleep(2 * MARGIN);
    await events();
    await atRest(victim);
    expect(victim.meter.usage).toEqual(all(9, 3, 1));
    const bases = await admin.getAll(
      ...onShard("base").map(([counter]) => admin.doc(`${victim.backend.config.collection}/${counter}/shards/base`)),
    );
    for (const base of bases) {
      const committedAt = toMillis(base.updateTime as FirebaseFirestore.Timestamp);
      await victim.wake({ counterId: base.ref.parent.parent?.id as string, shardId: "base", isNew: true, committedAt });
    }
    // The event of base finds all counted: 2 reads, unless its instance knows that.
    await atRest(victim);
    expect(victim.meter.usage.reads).toBeLessThanOrEqual(11 * COUNTERS);
    const { reads } = victim.meter.usage;
    await sweep(victim.backend);
    expect(victim.meter.usage.reads).toBe(reads + 2);
  });
});

/** Waits until nothing was read or written for longer than anything may be put off. */
async function atRest({ backend, meter }: Target): Promise<void> {
  for (let before = ""; before !== JSON.stringify(meter.usage); ) {
    before = JSON.stringify(meter.usage);
    await sleep(backend.config.maxInterval + 500);
  }
}

const SHARDS = 200;
/** Of writes: after how many milliseconds, and how many at once. */
const PATTERNS: Record<string, readonly [after: number, writes: number][]> = {
  "a few, as soon as they are looked at again": [[2_310, 3]],
  "many, as soon as they are looked at again": [[2_310, 40]],
  "one, now and then": [[2_310, 1]],
  "one after a pause, and one more": [
    [2_310, 1],
    [310, 1],
  ],
  "all the time": [[310, 1]],
  "everywhere, all the time": [[990, 200]],
};

test.concurrent.each(Object.entries(PATTERNS))(
  "a counter spread wide is measured at most four times in its longest interval, whatever is written when: %s",
  async (_, pattern) => {
    const victim = await target();
    const { maxInterval } = victim.backend.config;
    const spread = await commit(
      victim,
      Array.from({ length: SHARDS }, (_, n): [string, string] => ["views:wide", `${9_999 - n}`]),
    );
    await sleep(2 * MARGIN);
    await spread();
    expect(victim.meter.usage.reads).toBe(SHARDS + 1);

    const before = { ...victim.meter.usage };
    const start = Date.now();
    const events: Promise<void>[] = [];
    for (let n = 0; Date.now() - start < 3 * maxInterval; n++) {
      const [after, writes] = pattern[n % pattern.length] as [number, number];
      await sleep(after);
      const wakes = await commit(
        victim,
        Array.from({ length: writes }, (_, n): [string, string] => ["views:wide", `${9_999 - n}`]),
      );
      events.push(wakes());
    }
    await Promise.all(events);
    const intervals = (Date.now() - start) / maxInterval;
    const measured = since(victim, before).reads / SHARDS;
    console.log(`  ${measured.toFixed(1)} measurements in ${intervals.toFixed(1)} longest intervals`);
    expect(measured).toBeGreaterThanOrEqual(1);
    expect(measured).toBeLessThanOrEqual(4 * intervals);
  },
);

test.concurrent("a counter spread wide that is left alone is folded, and costs what it did before", async () => {
  const victim = await target();
  const spread = await commit(
    victim,
    Array.from({ length: SHARDS }, (_, n): [string, string] => ["views:wide", `${9_999 - n}`]),
  );
  await spread();
  await atRest(victim);
  expect(victim.meter.usage.deletes).toBe(SHARDS);
  const before = { ...victim.meter.usage };
  const events = await commit(victim, [["views:wide", "0"]]);
  await sleep(2 * MARGIN);
  await events();
  // The counter, base and shard 0.
  expect(since(victim, before)).toEqual({ reads: 3, writes: 1, deletes: 0 });
});

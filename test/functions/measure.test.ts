/** Measuring a counter: its cost in reads and memory, and the listing of shards where the index cannot be used. */
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type CollectionReference, Timestamp } from "firebase-admin/firestore";
import { logger } from "firebase-functions/logger";
import * as web from "firestore-tally";
import * as server from "firestore-tally/admin";
import { afterEach, expect, test, vi } from "vitest";
import { MAX_SHARDS } from "../../core/src/index.ts";
import { measureShards } from "../../functions/src/counter/measure.ts";
import { admin, adminAt, client } from "../../testkit/clients.ts";
import { withoutIndex } from "../../testkit/explained.ts";
import type { Inspection } from "../../testkit/grpcProxy.ts";
import { startMeter } from "../../testkit/meter.ts";
import { metered } from "../../testkit/metered.ts";

const BATCH = 500;
const MEGABYTE = 2 ** 20;

let made = 0;
/** The shards of a counter that no function watches, each with `count` 3 and `writes` 1. */
async function counterOf(documents: number, fields: (shard: string) => object): Promise<string> {
  const path = `measured${process.pid}x${made++}/any/shards`;
  for (let start = 0; start < documents; start += BATCH) {
    const batch = admin.batch();
    for (let n = start; n < Math.min(start + BATCH, documents); n++) {
      batch.set(admin.doc(`${path}/${n}`), { count: 3, writes: 1, at: Timestamp.now(), ...fields(`${n}`) });
    }
    await batch.commit();
  }
  return path;
}

const indexed = (shard: string) => ({ shard });
afterEach(() => vi.restoreAllMocks());

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** The growth of the heap during a call, with garbage that was not collected. */
async function heapOf(act: () => Promise<unknown>): Promise<number> {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  let peak = before;
  const look = () => {
    peak = Math.max(peak, process.memoryUsage().heapUsed);
  };
  const watching = setInterval(look, 1);
  await act();
  look();
  clearInterval(watching);
  return peak - before;
}

test("10,000 shards are measured with 20 reads and less than 5 MB; without the index they are listed in pages, and logged once", {
  tags: "nightly",
}, async () => {
  const path = await counterOf(MAX_SHARDS, indexed);
  const expected = { total: 3 * MAX_SHARDS, writes: MAX_SHARDS, documents: MAX_SHARDS };
  const { firestore, usage, close } = await metered();
  const measure = async (shards: CollectionReference) =>
    // A slow machine takes seconds.
    expect(await measureShards(shards, MAX_SHARDS, { longestSum: 60_000 })).toMatchObject(expected);
  await measure(firestore.collection(path));
  expect(usage).toEqual({ reads: 20, writes: 0, deletes: 0 });
  const grown: number[] = [];
  for (let n = 0; n < 5; n++) grown.push(await heapOf(() => measure(firestore.collection(path))));
  console.log(`  the heap grows by ${grown.map((bytes) => (bytes / MEGABYTE).toFixed(1)).join(", ")} MB`);
  // The least of several, since other parts of the process allocate, too.
  expect(Math.min(...grown)).toBeLessThan(5 * MEGABYTE);

  const warn = vi.spyOn(logger, "warn").mockImplementation(() => {});
  const listing = await metered(withoutIndex);
  await measure(listing.firestore.collection(path));
  // The shards, the count of all shards, and the empty page after the last.
  expect(listing.usage.reads).toBeGreaterThanOrEqual(MAX_SHARDS);
  expect(listing.usage.reads).toBeLessThanOrEqual(MAX_SHARDS + 11);
  // A page is all that is in memory at once.
  expect(listing.calls.get("RunQuery")).toBeGreaterThanOrEqual(MAX_SHARDS / 500);
  const few = listing.firestore.collection(await counterOf(5, indexed));
  expect(await measureShards(few, 5, { longestSum: 60_000 })).toMatchObject({ total: 15, writes: 5, documents: 5 });
  expect(warn.mock.calls).toEqual([[expect.stringContaining("deploy firestore.indexes.json")]]);
  await Promise.all([close(), listing.close()]);
});

test("an exact read of 20 shards, by a server or a web client, costs 2 reads of the index and 1 of the counter document", async () => {
  const id = "exact:reads";
  const shards = Array.from({ length: 20 }, (_, n) => admin.doc(`counters/${id}/shards/${n}`));
  await Promise.all(shards.map((shard) => shard.set({ shard: shard.id, count: 3, writes: 1, at: Timestamp.now() })));
  const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
  const [backend, browser] = [adminAt(meter.address), client(meter.address)];
  expect(await server.getExactTotal(server.counter(backend.firestore, id))).toBe(60);
  expect(meter.usage.reads).toBeLessThanOrEqual(3);
  expect(await web.getExactTotal(web.counter(browser.db, id))).toBe(60);
  expect(meter.usage.reads).toBeLessThanOrEqual(6);
  await Promise.all([backend.close(), browser.close()]);
  meter.close();
});

test("a shard without the field `shard`, which is not in the index, is counted, and its cost is logged once", async () => {
  const warn = vi.spyOn(logger, "warn").mockImplementation(() => {});
  const { firestore, usage, close } = await metered();
  for (const documents of [5, 501]) {
    const path = await counterOf(documents, (shard) => (shard === "3" ? {} : { shard }));
    const before = usage.reads;
    const sum = { total: 3 * documents, writes: documents, documents };
    expect(await measureShards(firestore.collection(path), documents)).toMatchObject(sum);
    expect(usage.reads - before).toBe(2 + documents);
  }
  expect(warn.mock.calls).toEqual([[expect.stringContaining("docs/data-model.md")]]);
  await close();
});

test("a shard whose writes are no number takes part in the total, and the others tell the rate", async () => {
  const path = await counterOf(10, (shard) => ({ shard, ...(shard === "3" && { writes: Number.NaN }) }));
  expect(await measureShards(admin.collection(path), 10)).toMatchObject({ total: 30, writes: 9, documents: 10 });
});

test("up to three shards are listed; more are summed by the index, without a lock, for 2 reads per 1,000", async () => {
  const { firestore, usage, calls, close } = await metered();
  const path = await counterOf(1_001, indexed);
  // The counter has as many shards, and had so many when it was measured last.
  for (const [documents, known, reads] of [
    [1_001, 4, 4],
    [1_000, 4, 2],
    [4, 4, 2],
    [4, 3, 4 + 2],
    [3, 0, 3],
    // The counter has shrunk, and the ids of its shards matter.
    [2, 4, 2 + 2],
    [0, 0, 1],
  ] as const) {
    const { docs } = await admin.collection(path).get();
    for (let start = documents; start < docs.length; start += BATCH) {
      const batch = admin.batch();
      for (const { ref } of docs.slice(start, start + BATCH)) batch.delete(ref);
      await batch.commit();
    }
    const before = usage.reads;
    const { total, documents: found } = await measureShards(firestore.collection(path), known);
    expect([total, found, usage.reads - before]).toEqual([3 * documents, documents, reads]);
  }
  expect(Object.fromEntries(calls)).not.toHaveProperty("transaction");
  await close();
});

test("a sum that takes too long is given up for a list, and so are those of the next ten minutes", async () => {
  const SLOW = 3_000;
  const isSum = (method: string) => method === "RunAggregationQuery";
  const slow: Inspection = (method) => (isSum(method) ? { request: () => sleep(SLOW) } : undefined);
  const { firestore, calls, close } = await metered(slow);
  try {
    const shards = firestore.collection(await counterOf(20, indexed));
    const warn = vi.spyOn(logger, "warn").mockImplementation(() => {});
    const now = Date.now();
    const first = await measureShards(shards, 20, { now, longestSum: 500 });
    expect(Date.now() - now).toBeLessThan(SLOW);
    expect(first).toMatchObject({ total: 60, documents: 20, slowSince: now });
    expect(warn.mock.calls.flat().join()).toContain("a sum took longer than five seconds");
    const sums = calls.get("RunAggregationQuery");
    expect(await measureShards(shards, 20, { slowSince: now, now: now + 599_999 })).toMatchObject({ slowSince: now });
    expect(calls.get("RunAggregationQuery")).toBe(sums);
    // The sum that was given up ends before its client does, on a busy machine, too.
    await sleep(2 * SLOW);
  } finally {
    await close();
  }
  const again = await measureShards(admin.collection(await counterOf(20, indexed)), 20, { slowSince: 1, now: 600_001 });
  expect(again.slowSince).toBeUndefined();
});

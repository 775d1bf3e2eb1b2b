/** Managing counters on a server: creating, resetting, deleting, listing and watching them. */
import { FieldValue, Timestamp } from "firebase-admin/firestore";
import * as web from "firestore-tally";
import {
  counter,
  deleteCounter,
  ensureCounter,
  getCounter,
  getCounterRank,
  getExactTotal,
  getTopCounters,
  incrementCounter,
  listCounters,
  onCounter,
  resetCounter,
  setCounterSource,
  takeFromCounter,
} from "firestore-tally/admin";
import { describe, expect, test, vi } from "vitest";
import { admin, adminAt, client } from "../../testkit/clients.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

describe("ensureCounter", () => {
  test("creates a counter once for 10 concurrent calls", async () => {
    const ref = counter(admin, "stock:shoes");
    await Promise.all(Array.from({ length: 10 }, () => ensureCounter(ref, { initial: 500 })));
    await incrementCounter(ref, -1);
    await ensureCounter(ref, { initial: 900 });
    expect(await getExactTotal(ref)).toBe(499);
    await until(async () => (await getCounter(ref)).total === 499, "the total");
    await ensureCounter(ref);
    expect(await getExactTotal(ref)).toBe(499);
    await expect(ensureCounter(ref, { initial: Number.NaN })).rejects.toMatchObject({ code: "counter/invalid-amount" });
    // Without an initial total it is 0.
    await ensureCounter(counter(admin, "stock:socks"));
    await until(async () => (await readPublished("stock:socks"))?.total === 0, "the total 0");
  });

  test.each<[how: string, add: (path: string) => Promise<unknown>]>([
    ["by a client, on a shard", (path) => admin.doc(`${path}/shards/3`).set({ shard: "3", count: -4, writes: 1 })],
    ["once, by an entry that is left", (path) => admin.doc(`${path}/tallyEntries/user`).set({ once: "user", by: 1 })],
    ["directly", (path) => admin.doc(path).set({ direct: { open: true, count: 2, writes: 1 } })],
  ])("takes a counter that was incremented %s for one that exists, before its first publish", async (how, add) => {
    // No functions publish it: it is in no collection of theirs.
    const ref = counter(admin, how, { collection: "unpublished" });
    await add(ref.path);
    const before = await getExactTotal(ref);
    await ensureCounter(ref, { initial: 500, shards: 5 });
    await expect(ensureCounter(ref, { bounded: true })).rejects.toMatchObject({ code: "counter/not-bounded" });
    expect(await getExactTotal(ref)).toBe(before);
  });

  test("never lets a decrement into stock that is made between its look and its commit", async () => {
    const { firestore, close } = adminAt(process.env.FIRESTORE_EMULATOR_HOST as string);
    const sale = counter(admin, "stock:between", { collection: "unpublished" });
    const runTransaction = firestore.runTransaction.bind(firestore);
    firestore.runTransaction = async (...call) => {
      await ensureCounter(sale, { bounded: true });
      return await runTransaction(...call);
    };
    const same = counter(firestore, sale.id, { collection: "unpublished" });
    await expect(incrementCounter(same, -1)).rejects.toMatchObject({ code: "counter/bounded" });
    expect(await getExactTotal(sale)).toBe(0);
    await close();
  });

  test("a decrement of a counter that has counted takes no lock, also without functions", async () => {
    const { firestore, close } = adminAt(process.env.FIRESTORE_EMULATOR_HOST as string);
    const lock = vi.spyOn(firestore, "runTransaction");
    const ref = counter(firestore, "calm", { collection: "unpublished" });
    await admin.doc(ref.path).set({ direct: { open: true, count: 2, writes: 1 } });
    await incrementCounter(ref, -1);
    expect(lock).not.toHaveBeenCalled();
    expect(await getExactTotal(ref)).toBe(1);
    await close();
  });

  test("a counter that has only a source of truth does not exist yet", async () => {
    const ref = counter(admin, "stock:sourced", { collection: "unpublished" });
    await setCounterSource(ref, { collection: "shoes" });
    await ensureCounter(ref, { initial: 3, bounded: true });
    expect(await takeFromCounter(ref, 3)).toBe(3);
  });

  test("with shards polls a quiet counter again, so that writes to silent shards are published", async () => {
    const id = "stock:quiet";
    const ref = counter(admin, id);
    const shard = admin.doc(`counters/${id}/shards/7`);
    const write = () =>
      shard.set({ shard: "7", count: FieldValue.increment(1), writes: FieldValue.increment(1) }, { merge: true });
    await write();
    await until(async () => (await getCounter(ref)).total === 1, "the first total");
    // The state after minutes without writes.
    const now = Date.now();
    const [calmSince, nextPollAt] = [now - 190_000, now + 410_000].map((at) => Timestamp.fromMillis(at));
    await admin.doc(ref.path).update({ phase: "cooling", calmSince, nextPollAt });
    await ensureCounter(ref, { shards: 40 });
    expect((await readPublished(id))?.shardCount).toBe(40);
    await write();
    await until(async () => (await getCounter(ref)).total === 2, "the second total");
    expect((await readPublished(id))?.shardCount).toBe(40);
    expect(await getExactTotal(ref)).toBe(2);
  });
});

describe("I5: resetCounter", () => {
  test("sets the total, up or down, repeatedly", async () => {
    const ref = counter(admin, "reset:plain");
    await incrementCounter(ref, 41);
    for (const to of [0, 100, -3, 0.25]) {
      await resetCounter(ref, to);
      expect(await getExactTotal(ref)).toBe(to);
    }
    await until(async () => (await getCounter(ref)).total === 0.25, "the total");
  });

  test("ten concurrent resets have the effect of one", async () => {
    const ref = counter(admin, "reset:race");
    await incrementCounter(ref, 41);
    await Promise.all(Array.from({ length: 10 }, () => resetCounter(ref, 7)));
    expect(await getExactTotal(ref)).toBe(7);
  });
});

test("deleteCounter deletes all documents, reports progress, and the counter can be created again", async () => {
  const ref = counter(admin, "delete:me");
  await Promise.all(Array.from({ length: 5 }, (_, n) => incrementCounter(ref, 1, { once: `k${n}` })));
  await incrementCounter(ref, 5);
  await admin.doc(`${ref.path}/tallyCorrections/one`).set({ by: 1 });
  await until(async () => (await getCounter(ref)).total === 10, "the total");
  const progress: [number, number][] = [];
  await deleteCounter(ref, { onProgress: (deleted, documents) => progress.push([deleted, documents]) });
  const documents = progress[0]?.[1] as number;
  expect(documents).toBeGreaterThanOrEqual(5 + 1 + 1 + 1);
  expect(progress).toEqual(Array.from({ length: documents }, (_, n) => [n + 1, documents]));
  // Those expire by themselves.
  expect((await admin.doc(ref.path).listCollections()).map(({ id }) => id)).toEqual(["tallyReceipts"]);
  expect((await admin.doc(ref.path).get()).exists).toBe(false);
  await deleteCounter(ref);
  await incrementCounter(ref, 2);
  await incrementCounter(ref, 1, { once: "k0" });
  await until(async () => (await getCounter(ref)).total === 3, "the new total");
});

test("a group is listed in pages, and both SDKs return the same top and ranks", async () => {
  const totals = { a: 5, b: 30, c: 20, d: 20, e: 1 };
  const published = { group: "board", rate: 0, asOf: Timestamp.now() };
  await Promise.all(
    Object.entries(totals).map(([name, total]) => admin.doc(`counters/board:${name}`).set({ ...published, total })),
  );
  const first = await listCounters(admin, "board", { limit: 3 });
  const second = await listCounters(admin, "board", { limit: 3, after: first.at(-1)?.id as string });
  expect([...first, ...second].map(({ id, total }) => [id, total])).toEqual(
    Object.entries(totals).map(([name, total]) => [`board:${name}`, total]),
  );
  const browser = client();
  const top = await getTopCounters(admin, "board", { limit: 2 });
  expect(top.map(({ id }) => id).slice(0, 1)).toEqual(["board:b"]);
  expect((await web.getTopCounters(browser.db, "board", { limit: 2 })).map(({ id }) => id)).toEqual(
    top.map(({ id }) => id),
  );
  expect((await web.getTopCounters(browser.db, "board", { orderBy: "rate" })).length).toBe(5);
  for (const [name, rank] of Object.entries({ a: 4, b: 1, c: 2, d: 2, e: 5 })) {
    expect(await getCounterRank(counter(admin, `board:${name}`)), name).toBe(rank);
    expect(await web.getCounterRank(web.counter(browser.db, `board:${name}`)), name).toBe(rank);
  }
  expect(await getCounterRank(counter(admin, "board:none"))).toBeUndefined();
  await browser.close();
});

test("a server's listener gets each published total", async () => {
  const ref = counter(admin, "server:watched");
  const seen: number[] = [];
  const stop = onCounter(ref, ({ total }) => seen.push(total));
  await until(() => seen.length === 1, "the first answer");
  await incrementCounter(ref, 4);
  await until(() => seen.at(-1) === 4, "the total");
  stop();
  expect(seen).toEqual([0, 4]);
});

test("a counter has one reference object, and another counter has another", () => {
  expect(counter(admin, "a:b")).toBe(counter(admin, "a:b"));
  expect(counter(admin, "a:b")).not.toBe(counter(admin, "a:c"));
  expect(counter(admin, "a:b")).not.toBe(counter(admin, "a:b", { collection: "others" }));
});

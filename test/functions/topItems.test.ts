/** Top items, from requests to ingest through the deployed function to readers; and the merge on its own. */
import { FieldValue, type QuerySnapshot } from "firebase-admin/firestore";
import { counter, getTopItems } from "firestore-tally";
import {
  deleteCounter,
  getTopItems as getTopItemsOnServer,
  resetCounter,
  counter as serverCounter,
} from "firestore-tally/admin";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ItemSummary, itemCountsPath, itemSummaryPath } from "../../core/src/index.ts";
import { toMillis } from "../../functions/src/counter/time.ts";
import type { EventMessage } from "../../functions/src/features/ingest/events.ts";
import { itemMerging } from "../../functions/src/features/items/mergeItems.ts";
import { createMergeHandler } from "../../functions/src/shared/merge.ts";
import { admin, type Client, client } from "../../testkit/clients.ts";
import { type ServedFunction, serveFunction } from "../../testkit/functionServer.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";
import { until } from "../../testkit/until.ts";

const params = { ITEMS: "yes", INGEST_COUNTERS: "/views:.*/", INGEST_AMOUNT_PER_SECOND: "1000000" };

let ingest: ServedFunction;
let reader: Client;
beforeAll(() => {
  reader = client();
});
afterAll(() => reader.close());

async function send(events: readonly EventMessage[]): Promise<void> {
  const { ok } = await fetch(ingest.url, { method: "POST", body: JSON.stringify({ events }) });
  expect(ok).toBe(true);
}

const sizeOf = async (path: string) => (await admin.collection(path).count().get()).data().count;
async function settles(id: string, total: number): Promise<void> {
  const ref = serverCounter(admin, id);
  await until(async () => (await getTopItemsOnServer(ref)).total === total, `${total} items of ${id}`);
  expect(await sizeOf(`counters/${id}/tallyItemCounts`)).toBe(0);
}
/** Adds the items of a commit of ingest. */
function addItems(counterPath: string, counts: Readonly<Record<string, number>>) {
  const summary = new ItemSummary();
  for (const [item, count] of Object.entries(counts)) summary.add(item, count);
  return admin.collection(itemCountsPath(counterPath)).add({ bytes: Buffer.from(summary.serialize()) });
}

describe("items of events", { tags: "deep" }, () => {
  beforeAll(async () => {
    ingest = await serveFunction("ingest", params);
  });
  afterAll(() => ingest.kill());

  test.concurrent("of one commit are one document, with one write", async () => {
    const id = "views:document";
    const events = Array.from({ length: 500 }, (_, n) => ({ counter: id, item: `item ${n % 250}` }));
    const created: number[] = [];
    const stop = admin.collection(`counters/${id}/tallyItemCounts`).onSnapshot((snapshot) => {
      for (const change of snapshot.docChanges()) {
        if (change.type === "added") created.push(change.doc.get("bytes").length);
      }
    });
    await send(events);
    await settles(id, 500);
    stop();
    expect(created.length).toBeLessThanOrEqual(1);
    for (const bytes of created) expect(bytes).toBeLessThan(250 * 12);
  });

  test.concurrent("are begun anew by a reset, at the instant of the total, and deleted with the counter", async () => {
    const id = "views:reset";
    const ref = serverCounter(admin, id);
    const count = (by: number) => send([{ counter: id, item: "a", by }]);
    await count(3);
    await settles(id, 3);
    await count(4);
    await resetCounter(ref, 0, { items: true });
    expect(await getTopItemsOnServer(ref)).toMatchObject({ items: [], total: 0 });
    await count(5);
    await settles(id, 5);
    expect((await getTopItemsOnServer(ref)).items).toEqual([{ item: "a", count: 5, error: 0 }]);
    await deleteCounter(ref);
    expect((await admin.doc(`counters/${id}`).listCollections()).map((part) => part.id)).toEqual(["tallyReceipts"]);
    expect(await getTopItemsOnServer(ref)).toEqual({ items: [], error: 0, total: 0, asOf: null });
  });
});

test("items are merged by the deployed function, and read with both SDKs, up to 100 at a time", async () => {
  const id = "views:deployed";
  await addItems(`counters/${id}`, { a: 2, b: 3 });
  await settles(id, 5);
  const a = { item: "a", count: 2, error: 0 };
  const b = { item: "b", count: 3, error: 0 };
  expect(await getTopItems(counter(reader.db, id), { limit: 1 })).toEqual({
    items: [b],
    error: 0,
    total: 5,
    asOf: expect.anything(),
  });
  expect((await getTopItemsOnServer(serverCounter(admin, id))).items).toEqual([b, a]);
  const refused = { code: "counter/invalid-option" };
  for (const limit of [0, 101, 1.5, Number.NaN, "5"] as number[]) {
    await expect(getTopItems(counter(reader.db, id), { limit })).rejects.toMatchObject(refused);
    await expect(getTopItemsOnServer(serverCounter(admin, id), { limit })).rejects.toMatchObject(refused);
  }
});

describe("the merge", () => {
  const inProcess = () => {
    const { backend } = inProcessBackend();
    const counterId = "views:page";
    const path = `${backend.config.collection}/${counterId}`;
    // Without the pause between two merges.
    const eager = { ...backend, now: () => Date.now() + 60_000 };
    const now = async () => toMillis((await admin.doc(`${path}/tallyItemCounts/none`).get()).readTime);
    const stored = async () => ItemSummary.parse((await admin.doc(itemSummaryPath(path)).get()).get("bytes"));
    return { eager, counterId, path, now, stored };
  };

  test("I13: of two that have read the same, the later one is refused as a whole", async () => {
    const { path, stored } = inProcess();
    const summary = admin.doc(itemSummaryPath(path));
    const pending = () => admin.collection(itemCountsPath(path)).get();
    await addItems(path, { a: 1 });
    const [before, first] = [await summary.get(), await pending()];
    await addItems(path, { a: 2, b: 1 });
    const { docs, readTime } = await pending();
    const second = { docs: docs.filter(({ id }) => id !== first.docs[0]?.id), readTime } as QuerySnapshot;
    expect(await itemMerging.merge(before, second)).toBe(true);
    expect(await itemMerging.merge(before, first)).toBe(false);
    expect(await itemMerging.merge(await summary.get(), first)).toBe(true);
    // It is merged, and gone.
    expect(await itemMerging.merge(await summary.get(), first)).toBe(false);
    expect((await stored()).top(2)).toEqual([
      { item: "a", count: 3, error: 0 },
      { item: "b", count: 1, error: 0 },
    ]);
    expect(await sizeOf(itemCountsPath(path))).toBe(0);
  });

  test("takes 200 documents, or 6 MB, in a commit, and goes on until none waits", async () => {
    const { eager, counterId, path, now, stored } = inProcess();
    await Promise.all(Array.from({ length: 210 }, () => addItems(path, { small: 1 })));
    const large = Object.fromEntries(Array.from({ length: 2_048 }, (_, n) => [String(n).padStart(128, "x"), 1]));
    for (let n = 0; n < 24; n++) await addItems(path, large);
    const merge = vi.fn(itemMerging.merge);
    await createMergeHandler(eager, { ...itemMerging, merge })({ counterId, committedAt: await now() });
    expect((await stored()).total).toBe(210 + 24 * 2_048);
    expect(await sizeOf(itemCountsPath(path))).toBe(0);
    expect((await admin.doc(itemSummaryPath(path)).get()).get("bytes").length).toBeLessThan(300_000);
    expect(merge.mock.calls.length).toBeGreaterThan(1);
  });

  test("removes what a server has written there by mistake, also in place of the summary", async () => {
    const { eager, counterId, path, now, stored } = inProcess();
    await admin.doc(`${path}/tallyItemCounts/a`).set({ bytes: "none" });
    await admin.doc(`${path}/tallyItemCounts/b`).set({ bytes: Buffer.from([9, 9]) });
    await admin.doc(`${path}/tallyItemCounts/c`).set({ other: FieldValue.serverTimestamp() });
    await admin.doc(itemSummaryPath(path)).set({ bytes: Buffer.from([1, 1]) });
    await addItems(path, { right: 2 });
    await createMergeHandler(eager, itemMerging)({ counterId, committedAt: await now() });
    expect((await stored()).top(10)).toEqual([{ item: "right", count: 2, error: 0 }]);
    expect(await sizeOf(itemCountsPath(path))).toBe(0);
  });
});

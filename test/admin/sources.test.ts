/** Sources of truth: what each kind of source counts, and how a counter stores its source. */
import { setTimeout as sleep } from "node:timers/promises";
import { Timestamp } from "firebase-admin/firestore";
import {
  type CounterSource,
  counter,
  deleteCounter,
  ensureCounter,
  getExactTotal,
  incrementCounter,
  reconcileCounter,
  setCounterSource,
  undoIncrement,
} from "firestore-tally/admin";
import { beforeAll, describe, expect, test } from "vitest";
import { toMillis } from "../../functions/src/counter/time.ts";
import { createWakeHandler } from "../../functions/src/counter/wake.ts";
import { admin } from "../../testkit/clients.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";
import { correctionsOf, newCounter, run } from "./sourcedCounter.ts";

describe("a source of truth", () => {
  const posts: Record<string, object> = {
    a: { state: "public", score: 3, tags: ["x", "y"], author: { verified: true } },
    b: { state: "public", score: 4.5, tags: ["y"], author: { verified: false } },
    c: { state: "draft", score: -1, tags: [], author: { verified: true } },
    d: { state: "hidden", score: "7" },
  };
  const collection = `posts-${run}`;
  const group = `comments-${run}`;
  beforeAll(async () => {
    const batch = admin.batch();
    for (const [id, post] of Object.entries(posts)) {
      batch.set(admin.doc(`${collection}/${id}`), post);
      batch.set(admin.doc(`${collection}/${id}/${group}/1`), { ...post, at: Timestamp.fromMillis(1_000) });
      batch.set(admin.doc(`other-${run}/${id}/${group}/1`), { ...post, at: Timestamp.fromMillis(2_000) });
    }
    await batch.commit();
  });

  const where = (field: string, op: "==", value: unknown) => ({ where: [{ field, op, value }] });
  test.concurrent.each<[what: string, expected: number, source: CounterSource]>([
    ["a collection", 4, { collection }],
    ["a collection that is empty", 0, { collection: `none-${run}` }],
    ["a subcollection", 1, { collection: `${collection}/a/${group}` }],
    ["a collection group", 8, { collectionGroup: group }],
    ["documents with an equal field", 2, { collection, ...where("state", "==", "public") }],
    [
      "documents with a field in a list",
      3,
      { collection, where: [{ field: "state", op: "in", value: ["public", "draft"] }] },
    ],
    ["documents with a tag", 2, { collection, where: [{ field: "tags", op: "array-contains", value: "y" }] }],
    ["documents with a nested field", 2, { collection, ...where("author.verified", "==", true) }],
    [
      "two filters",
      1,
      {
        collection,
        where: [
          { field: "score", op: ">", value: 3 },
          { field: "score", op: "<", value: 5 },
        ],
      },
    ],
    [
      "documents of a group since a time",
      4,
      { collectionGroup: group, where: [{ field: "at", op: ">", value: Timestamp.fromMillis(1_500) }] },
    ],
    ["a sum, which ignores other types", 6.5, { collection, sum: "score" }],
    ["a sum of a group", 13, { collectionGroup: group, sum: "score" }],
  ])("%s counts %d", async (_what, expected, source) => {
    expect(await reconcileCounter(newCounter("source").ref, { source, dryRun: true })).toMatchObject({ expected });
  });

  test("is compared without a correction, and corrects the counter once it is stored", async () => {
    const { ref, id } = newCounter("source");
    const source = { collection, sum: "score", ...where("state", "==", "public") };
    const drift = { expected: 7.5, found: 0, drift: 7.5 };
    expect(await reconcileCounter(ref, { source, dryRun: true })).toMatchObject({ ...drift, corrected: false });
    expect([await correctionsOf(id), await getExactTotal(ref)]).toEqual([[], 0]);
    await setCounterSource(ref, source);
    expect(await reconcileCounter(ref)).toMatchObject({ ...drift, corrected: true });
    expect(await getExactTotal(ref)).toBe(7.5);
    expect(await correctionsOf(id)).toMatchObject([{ source, expected: 7.5, found: 0, by: 7.5 }]);
  });

  test("the counter's own entries: an entry deleted without an undo is subtracted", async () => {
    const { ref, id } = newCounter("entries");
    await Promise.all([1, 2, 3, 4].map((by) => incrementCounter(ref, by, { once: `k${by}` })));
    await undoIncrement(ref, "k1");
    await setCounterSource(ref, { entries: true });
    expect(await reconcileCounter(ref)).toMatchObject({ expected: 9, found: 9, drift: 0, corrected: false });
    await admin.doc(`${ref.path}/tallyEntries/k4`).delete();
    expect(await reconcileCounter(ref)).toMatchObject({ expected: 5, found: 9, drift: -4, corrected: true });
    expect(await getExactTotal(ref)).toBe(5);
    expect(await correctionsOf(id)).toHaveLength(1);
  });

  test("a malformed shard is ignored, and a malformed base is replaced", async () => {
    const { ref, source } = newCounter("malformed");
    await admin.doc(`${source}/one`).set({});
    await admin.doc(`${ref.path}/shards/0`).set({ count: "many" });
    await admin.doc(`${ref.path}/shards/base`).set({ count: "more" });
    expect(await reconcileCounter(ref, { source: { collection: source } })).toMatchObject({ found: 0, drift: 1 });
    expect(await getExactTotal(ref)).toBe(1);
  });

  test("is replaced as a whole, and removed", async () => {
    const { ref, id } = newCounter("replaced");
    await setCounterSource(ref, null);
    expect((await admin.doc(ref.path).get()).exists).toBe(false);
    await setCounterSource(
      ref,
      { collection, where: [{ field: "state", op: "==", value: "public" }], sum: "score" },
      { every: 300_000 },
    );
    await setCounterSource(ref, { collectionGroup: group }, { alarmBeyond: 5 });
    expect((await admin.doc(ref.path).get()).data()).toEqual({ source: { collectionGroup: group, alarmBeyond: 5 } });
    await setCounterSource(ref, null);
    expect((await admin.doc(ref.path).get()).data()).toEqual({});
    await expect(reconcileCounter(ref)).rejects.toMatchObject({
      code: "counter/invalid-source",
      message: expect.stringContaining(`"${id}" has no source of truth; set one with setCounterSource`),
    });
  });

  test("is rejected before any I/O if invalid, and with its sum if that is NaN", async () => {
    const { ref, source } = newCounter("refused");
    const refused = { code: "counter/invalid-source" };
    const wrong = { collection: "posts/42" } as CounterSource;
    await expect(setCounterSource(ref, wrong)).rejects.toMatchObject(refused);
    await expect(setCounterSource(ref, { entries: true }, { every: 60_000 })).rejects.toMatchObject(refused);
    await expect(reconcileCounter(ref, { source: wrong })).rejects.toMatchObject(refused);
    expect((await admin.doc(ref.path).get()).exists).toBe(false);
    await admin.doc(`${source}/one`).set({ amount: Number.NaN });
    const sum = reconcileCounter(ref, { source: { collection: source, sum: "amount" } });
    await expect(sum).rejects.toMatchObject({ ...refused, message: expect.stringContaining("sums up to NaN") });
  });

  test("survives every publish, and does not prevent the creation of its counter", async () => {
    const { backend } = inProcessBackend({ minInterval: 20, maxInterval: 40 });
    const ref = counter(admin, "survives", { collection: backend.config.collection });
    const wake = createWakeHandler(backend);
    const document = () => admin.doc(ref.path).get();
    const publish = async (shardId: string) => {
      const shard = await admin.doc(`${ref.path}/shards/${shardId}`).get();
      await wake({ counterId: ref.id, shardId, committedAt: toMillis(shard.updateTime as Timestamp) });
    };
    await setCounterSource(ref, { entries: true }, { every: 300_000, alarmBeyond: 2 });
    const { source, nextReconcileAt } = (await document()).data() ?? {};
    expect(source).toEqual({ entries: true, everySeconds: 300, alarmBeyond: 2 });
    expect(Math.abs(nextReconcileAt.toMillis() - Date.now() - 300_000)).toBeLessThan(60_000);
    await ensureCounter(ref, { initial: 7 });
    await ensureCounter(ref, { initial: 8 });
    await publish("base");
    expect((await document()).get("total")).toBe(7);
    await admin.doc(`${ref.path}/shards/0`).set({ shard: "0", count: 1, writes: 1 });
    await sleep(backend.config.maxInterval);
    // During a publish. The due time stays.
    const setting = (async () => {
      for (let n = 0; n < 10; n++) await setCounterSource(ref, { entries: true }, { every: 600_000, alarmBeyond: n });
    })();
    await Promise.all([publish("0"), setting]);
    const after = { source: { entries: true, everySeconds: 600, alarmBeyond: 9 }, nextReconcileAt };
    expect((await document()).data()).toMatchObject({ total: 8, ...after });
    await deleteCounter(ref);
    expect((await document()).exists).toBe(false);
  });
});

/** Unique visitors, from the clients of both SDKs through the rules and the deployed functions to the estimate. */
import { FieldValue } from "firebase-admin/firestore";
import { counter, countVisitor, getCounter, getUniques, incrementCounter, onCounter } from "firestore-tally";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  countVisitor as countOnServer,
  deleteCounter,
  forgetVisitors,
  getExactTotal,
  getUniques as getOnServer,
  incrementCounter as incrementOnServer,
  resetCounter,
  counter as serverCounter,
} from "../../admin/src/index.ts";
import { hashRank, Sketch, type StoredSketch, visitorHash } from "../../core/src/index.ts";
import { toTimestamp } from "../../functions/src/counter/fields.ts";
import { toMillis } from "../../functions/src/counter/time.ts";
import { visitorMerging } from "../../functions/src/features/visitors/mergeVisitors.ts";
import { createMergeHandler, runMergeTask } from "../../functions/src/shared/merge.ts";
import { admin, type Client, client, signIn } from "../../testkit/clients.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";
import { startMeter } from "../../testkit/meter.ts";
import { until } from "../../testkit/until.ts";

let visitor: Client;
let uid: string;
beforeAll(async () => {
  visitor = client();
  uid = await signIn(visitor);
});
afterAll(() => visitor.close());

const waiting = async (id: string) =>
  (await admin.collection(`counters/${id}/tallyVisitors`).get()).docs.flatMap(
    (bucket) => bucket.get("visitors") as string[],
  );
const uniques = async (id: string) => (await admin.doc(`counters/${id}`).get()).get("uniques");
const range = (size: number) => Array.from({ length: size }, (_, i) => `visitor ${i}`);

/** Waits until so many visitors are published, and none waits. */
async function settles(id: string, count: number): Promise<void> {
  await until(async () => (await uniques(id)) === count, `${count} visitors of ${id}`);
  await until(async () => (await waiting(id)).length === 0, `the buckets of ${id} to be empty`);
}

describe("a visitor", () => {
  // The emulator does not repeat an event whose delivery failed, as when the function's first process starts.
  test.concurrent("is published at once if it is the first, and counts once however often it comes, with a view or without", {
    retry: 1,
  }, async () => {
    const id = `views:first${Date.now()}`;
    const views = counter(visitor.db, id);
    await countVisitor(views, uid);
    // Without the ten seconds between merges.
    await until(async () => (await getCounter(views)).uniques === 1, "the first visitor", 8_000);
    expect((await getCounter(views)).total).toBe(0);
    await Promise.all([countVisitor(views, uid), countVisitor(views, uid), incrementCounter(views)]);
    await settles(id, 1);
    await until(async () => (await getCounter(views)).total === 1, "the view");
  });

  test.concurrent("costs one write the first time, and none later", async () => {
    const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
    const metered = client(meter.address);
    const me = await signIn(metered);
    const views = counter(metered.db, "views:cost");
    await incrementCounter(views);
    const alone = { ...meter.usage };
    await Promise.all([incrementCounter(views), countVisitor(views, me)]);
    expect(meter.usage.writes - alone.writes).toBe(2);
    for (let n = 0; n < 5; n++) await Promise.all([incrementCounter(views), countVisitor(views, me)]);
    expect(meter.usage.writes - alone.writes).toBe(7);
    const before = { ...meter.usage };
    for (let n = 0; n < 5; n++) await countVisitor(views, me);
    expect(meter.usage.writes).toBe(before.writes);
    await metered.close();
    meter.close();
  });

  // A client whose read of the floor times out writes.
  test.concurrent("below the floor costs no write", { retry: 2 }, async () => {
    const id = `visitors:floor${Date.now()}`;
    await admin.doc(`counters/${id}`).set({ uniqueFloor: hashRank(await visitorHash(uid)) });
    await countVisitor(counter(visitor.db, id), uid);
    await countOnServer(serverCounter(admin, id), uid);
    expect(await waiting(id)).toEqual([]);
    expect(await uniques(id)).toBeUndefined();
  });

  test.concurrent("is counted in a smaller bucket if the rules refuse it because the bucket is full", async () => {
    const id = `visitors:full${Date.now()}`;
    const hash = await visitorHash(uid);
    const bucket = (name: string) => admin.doc(`counters/${id}/tallyVisitors/${name}`);
    // As if all of the next minute were merged, so that the functions leave the buckets alone.
    await admin.doc(`counters/${id}/tallySketches/uniques`).set({ asOf: toTimestamp(Date.now() + 60_000) });
    const others = Array.from({ length: 5_000 }, (_, n) => `${hash[0]}${String(n).padStart(15, "0")}`);
    await bucket(hash.slice(0, 1)).set({ visitors: others });
    await countVisitor(counter(visitor.db, id), uid);
    expect((await bucket(hash.slice(0, 2)).get()).get("visitors")).toEqual([hash]);
  });

  test.concurrent("is refused with advice where it is another user, or is not counted", async () => {
    const denied = { name: "CounterError", code: "counter/permission-denied" };
    const message = expect.stringContaining("sign in: visitor must be the uid, countsVisitors must name the group");
    const refused = (id: string, who: string) =>
      expect(countVisitor(counter(visitor.db, id), who)).rejects.toMatchObject({ ...denied, message });
    await refused("visitors:other", "another");
    await refused("stars:x", uid);
    for (const wrong of ["", undefined, 7, {}]) {
      const invalid = { code: "counter/invalid-visitor" };
      await expect(countVisitor(counter(visitor.db, "visitors:x"), wrong as string)).rejects.toMatchObject(invalid);
      const call = countOnServer(serverCounter(admin, "visitors:x"), wrong as string);
      await expect(call).rejects.toMatchObject(invalid);
    }
  });
});

describe("many visitors", () => {
  test.concurrent("are counted exactly, by 256 buckets while they come fast, by 16 later", {
    tags: "deep",
  }, async () => {
    const id = "visitors:many";
    const ref = serverCounter(admin, id);
    // The first merge does not know yet how fast they come.
    await countOnServer(ref, "visitor 0");
    await settles(id, 1);
    // So many that a slow machine, too, merges more than eight a second.
    await Promise.all(range(400).map((one) => countOnServer(ref, one)));
    await settles(id, 400);
    expect((await admin.doc(`counters/${id}`).get()).data()).toMatchObject({ uniqueBuckets: 256, uniqueFloor: 0 });
    await countOnServer(ref, "one more");
    await settles(id, 401);
    expect((await admin.doc(`counters/${id}`).get()).get("uniqueBuckets")).toBe(16);
  });

  test.concurrent("of several counters are united", async () => {
    const [mon, tue, none] = ["visitors:mon", "visitors:tue", "visitors:none"] as const;
    await Promise.all([
      countOnServer(serverCounter(admin, mon), "ann"),
      countOnServer(serverCounter(admin, mon), "bob"),
    ]);
    await countOnServer(serverCounter(admin, tue), "bob");
    await settles(mon, 2);
    await settles(tue, 1);
    expect(await getOnServer([mon, tue, none].map((id) => serverCounter(admin, id)))).toBe(2);
    const refs = [mon, tue].map((id) => counter(visitor.db, id));
    // The default rules let operators alone read sketches.
    await expect(getUniques(refs)).rejects.toMatchObject({ code: "permission-denied" });
  });
});

describe("a counter with visitors", () => {
  test.concurrent("is reset with its visitors or without; then browsers count them again", {
    tags: "deep",
  }, async () => {
    const id = "views:reset";
    const views = counter(visitor.db, id);
    await Promise.all([incrementCounter(views), countVisitor(views, uid)]);
    await settles(id, 1);
    await resetCounter(serverCounter(admin, id), 5);
    expect(await uniques(id)).toBe(1);
    await resetCounter(serverCounter(admin, id), 7, { visitors: true });
    expect((await admin.doc(`counters/${id}`).get()).data()).toMatchObject({
      uniques: 0,
      uniquesResetAt: expect.anything(),
    });
    // The browser reads the new epoch in the counter document.
    const stop = onCounter(views, () => {});
    await until(async () => {
      await countVisitor(views, uid);
      return (await uniques(id)) === 1;
    }, "the visitor to be counted again");
    stop();
  });

  test.concurrent("forgets its visitors while it is incremented, and loses no increment", async () => {
    const ref = serverCounter(admin, "views:forgotten");
    await countOnServer(ref, "someone");
    await settles(ref.id, 1);
    const increments = Array.from({ length: 300 }, (_, n) => incrementOnServer(ref, 1, { once: `${n}` }));
    for (let n = 0; n < 3; n++) await forgetVisitors(ref);
    await Promise.all(increments);
    expect(await getExactTotal(ref)).toBe(300);
    expect(await uniques(ref.id)).toBe(0);
    const sketch = (await admin.doc(`${ref.path}/tallySketches/uniques`).get()).data() as StoredSketch;
    expect(Sketch.parse(sketch).estimate()).toBe(0);
  });

  test.concurrent("is deleted with its visitors", async () => {
    const id = "visitors:deleted";
    const ref = serverCounter(admin, id);
    await countOnServer(ref, "old");
    await settles(id, 1);
    await deleteCounter(ref);
    expect((await admin.doc(`counters/${id}`).get()).exists).toBe(false);
    expect(await admin.doc(`counters/${id}`).listCollections()).toEqual([]);
    await countOnServer(ref, "new");
    await settles(id, 1);
  });
});

describe("the merge", () => {
  const inProcess = () => {
    const { backend, tasks } = inProcessBackend();
    const counterId = "views:page";
    const path = `${backend.config.collection}/${counterId}`;
    const ref = serverCounter(admin, counterId, { collection: backend.config.collection });
    return { backend, tasks, counterId, path, ref };
  };
  const now = async (path: string) => toMillis((await admin.doc(`${path}/tallyVisitors/none`).get()).readTime);

  test("I10: of two that have read the same sketch, the later one is refused, and is made again", async () => {
    const { path, ref } = inProcess();
    const sketch = admin.doc(`${path}/tallySketches/uniques`);
    const before = await sketch.get();
    const pending = () => admin.collection(`${path}/tallyVisitors`).get();
    await countOnServer(ref, "first");
    const early = await pending();
    await countOnServer(ref, "second");
    expect(await visitorMerging.merge(before, await pending())).toBe(true);
    expect(await visitorMerging.merge(before, early)).toBe(false);
    // A bucket that has got another visitor since stays.
    await countOnServer(ref, "third");
    const late = await pending();
    await Promise.all(range(40).map((one) => countOnServer(ref, one)));
    expect(await visitorMerging.merge(await sketch.get(), late)).toBe(true);
    expect(await visitorMerging.merge(await sketch.get(), await pending())).toBe(true);
    expect(Sketch.parse((await sketch.get()).data() as StoredSketch).estimate()).toBe(43);
    expect((await admin.doc(path).get()).get("uniques")).toBe(43);
    expect((await admin.collection(`${path}/tallyVisitors`).get()).size).toBe(0);
  });

  test("is made at most once in ten seconds, by a task", async () => {
    const { backend, tasks, counterId, path, ref } = inProcess();
    const handle = createMergeHandler(backend, visitorMerging);
    await countOnServer(ref, "first");
    await handle({ counterId, committedAt: await now(path) });
    expect((await admin.doc(path).get()).get("uniques")).toBe(1);
    for (const one of ["second", "third"]) {
      await countOnServer(ref, one);
      await handle({ counterId, committedAt: await now(path) });
    }
    const [task, ...others] = tasks;
    expect(others).toEqual([]);
    expect(task).toMatchObject({ counterId, kind: "mergeVisitors" });
    const asOf = toMillis((await admin.doc(`${path}/tallySketches/uniques`).get()).get("asOf"));
    expect(task?.due).toBeCloseTo(asOf + 10_000, 0);
    expect((await admin.doc(path).get()).get("uniques")).toBe(1);
    await runMergeTask({ ...backend, now: () => Date.now() + 60_000 }, visitorMerging, {
      kind: "mergeVisitors",
      counterId,
      due: Date.now(),
    });
    expect((await admin.doc(path).get()).get("uniques")).toBe(3);
  });

  test("of a counter that was deleted writes nothing", async () => {
    const { backend, counterId, path } = inProcess();
    await createMergeHandler(backend, visitorMerging)({ counterId, committedAt: await now(path) });
    expect((await admin.doc(path).get()).exists).toBe(false);
  });

  test("removes what a server has written there by mistake", async () => {
    const { backend, counterId, path, ref } = inProcess();
    await admin.doc(`${path}/tallyVisitors/a`).set({ visitors: "none" });
    await admin.doc(`${path}/tallyVisitors/b`).set({ visitors: ["x", 7, null] });
    await admin.doc(`${path}/tallyVisitors/c`).set({ other: FieldValue.serverTimestamp() });
    await countOnServer(ref, "right");
    await createMergeHandler(backend, visitorMerging)({ counterId, committedAt: await now(path) });
    expect((await admin.doc(path).get()).get("uniques")).toBe(1);
    expect((await admin.collection(`${path}/tallyVisitors`).get()).size).toBe(0);
  });
});

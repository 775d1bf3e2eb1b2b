/**
 * Reconciling a counter with its source of truth: exact under concurrent writes, once however many ask for it, on demand
 * and on schedule, with an alarm.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { FieldValue, type Firestore, Timestamp } from "firebase-admin/firestore";
import {
  counter,
  deleteCounter,
  ensureCounter,
  getExactCounter,
  incrementCounter,
  incrementCounterIn,
  type Reconciliation,
  reconcileCounter,
  resetCounter,
  type Source,
  setSource,
  undoIncrement,
} from "firestore-tally/admin";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { DRIFT_EVENT } from "../../functions/src/alarm.ts";
import type { Backend } from "../../functions/src/backend.ts";
import { fold } from "../../functions/src/fold.ts";
import { reconcileDue } from "../../functions/src/reconcile.ts";
import { admin, adminAt } from "../../testkit/clients.ts";
import { emulatorsLog, logged, triggerSweep } from "../../testkit/deployedFunctions.ts";
import { startMeter } from "../../testkit/meter.ts";
import { readPublished, sumOfShards } from "../../testkit/storedCounter.ts";
import { cuttingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";

afterEach(() => vi.unstubAllEnvs());

/** How long a shard is left alone before it is folded. */
const QUIET = 40;

/** Other runs may have been here. */
const run = Date.now().toString(36);
let made = 0;

/** A counter of its own, with a collection for its source. */
function counted(name: string, firestore: Firestore = admin, collection = "counters") {
  const id = `reconcile:${name}-${run}-${made++}`;
  return { id, ref: counter(firestore, id, { collection }), source: `${id}-source` };
}

/** A collection of counters that the deployed functions do not watch. */
const unwatched = () => `reconciled-${run}-${made++}`;

/** Documents and their increments, each pair in one commit: created, and now and then deleted again. */
function atomicTraffic({ ref, source }: ReturnType<typeof counted>, writers = 6) {
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

async function corrections(id: string): Promise<FirebaseFirestore.DocumentData[]> {
  const { docs } = await admin.collection(`counters/${id}/corrections`).orderBy("at").get();
  return docs.map((correction) => correction.data());
}

async function documents(source: string): Promise<number> {
  return (await admin.collection(source).count().get()).data().count;
}

describe("I5: correcting is invisible", () => {
  test("under atomic traffic and folds there is no drift, and nothing is written", async () => {
    const it = counted("atomic", admin, unwatched());
    // Spread so wide that a shard is quiet for long enough to be folded.
    await admin.doc(it.ref.path).set({ shardCount: 100 });
    const shards = admin.collection(`${it.ref.path}/shards`);
    const traffic = atomicTraffic(it);
    const found: Reconciliation[] = [];
    let folded = 0;
    const isEnough = () => traffic.commits >= 400 && folded >= 5 && found.length >= 20;
    const folding = (async () => {
      while (!isEnough()) {
        // Those that have been quiet for a moment: with all others, each batch would meet a straggler.
        folded += (await fold(shards, 0, Date.now() - QUIET)).folded;
      }
    })();
    const reconciling = Array.from({ length: 3 }, async () => {
      while (!isEnough()) found.push(await reconcileCounter(it.ref, { source: { collection: it.source } }));
    });
    await Promise.all([folding, ...reconciling]);
    await traffic.stop();
    for (const { expected, drift, corrected } of found)
      expect([expected, drift, corrected]).toEqual([expected, 0, false]);
    expect(new Set(found.map(({ expected }) => expected)).size).toBeGreaterThan(5);
    expect((await admin.collection(`${it.ref.path}/corrections`).get()).size).toBe(0);
    expect(await getExactCounter(it.ref)).toBe(await documents(it.source));
  });

  test("under the same traffic, every drift is repaired exactly, once, while other calls move the base", async () => {
    const it = counted("drift");
    await setSource(it.ref, { collection: it.source });
    const traffic = atomicTraffic(it);
    const shards = admin.collection(`${it.ref.path}/shards`);
    const drifts: number[] = [];
    const drift = {
      // Shards written behind its back.
      "by a shard": async (by: number) => {
        await shards.doc(String(9_000 + by)).set({ count: -by });
        drifts.push(by);
      },
      // Increments left out.
      "by documents": async (by: number) => {
        const batch = admin.batch();
        for (let n = 0; n < by; n++) batch.create(admin.collection(it.source).doc(`alone-${drifts.length}-${n}`), {});
        await batch.commit();
        drifts.push(by);
      },
      "by a reset": async () => await resetCounter(it.ref, 1_000),
    };
    for (let round = 0; round < 4; round++) {
      await drift["by a shard"](round * 10 - 15);
      await drift["by documents"](round + 1);
      await Promise.all([reconcileCounter(it.ref), reconcileCounter(it.ref), reconcileCounter(it.ref)]);
      expect(await reconcileCounter(it.ref)).toMatchObject({ drift: 0, corrected: false });
    }
    const sum = drifts.reduce((all, by) => all + by, 0);
    expect((await corrections(it.id)).reduce((all, { by }) => all + by, 0)).toBe(sum);

    await Promise.all([drift["by a reset"](), reconcileCounter(it.ref), reconcileCounter(it.ref)]);
    await reconcileCounter(it.ref);
    await traffic.stop();
    expect(traffic.commits).toBeGreaterThan(100);
    expect(await sumOfShards(it.id)).toBe(await documents(it.source));
    expect(await reconcileCounter(it.ref)).toMatchObject({ drift: 0 });
    await until(async () => (await readPublished(it.id))?.total === (await documents(it.source)), "the total");
  });

  test("ten at once correct one drift once, and one of them says so", async () => {
    const it = counted("once");
    await admin.doc(`${it.source}/one`).set({});
    await admin.doc(`${it.source}/two`).set({});
    const source = { collection: it.source };
    const all = await Promise.all(Array.from({ length: 10 }, () => reconcileCounter(it.ref, { source })));
    expect(all.filter(({ corrected }) => corrected)).toMatchObject([{ expected: 2, found: 0, drift: 2 }]);
    expect(await sumOfShards(it.id)).toBe(2);
    expect(await corrections(it.id)).toMatchObject([{ source, expected: 2, found: 0, by: 2 }]);
  });

  test("one whose connection is cut after the commit corrects once, and knows it", async () => {
    const proxy = await cuttingProxy(process.env.FIRESTORE_EMULATOR_HOST as string);
    const { firestore, close } = adminAt(proxy.address);
    const newBatch = firestore.batch.bind(firestore);
    let isNext = false;
    // All has been read when the batch is made.
    firestore.batch = () => {
      if (isNext) proxy.withhold();
      isNext = false;
      return newBatch();
    };
    for (let cut = 0; cut < 6; cut++) {
      const it = counted("cut", firestore as unknown as Firestore);
      // With a base and without.
      if (cut % 2 === 0) await resetCounter(it.ref, 10);
      await admin.doc(`${it.source}/one`).set({});
      const found = await getExactCounter(it.ref);
      const base = admin.doc(`${it.ref.path}/shards/base`);
      isNext = true;
      const attempt = reconcileCounter(it.ref, { source: { collection: it.source } });
      await until(async () => (await base.get()).get("count") === 1, "the commit");
      proxy.cut();
      expect(await attempt).toMatchObject({ expected: 1, found, drift: 1 - found, corrected: true });
      expect(await sumOfShards(it.id)).toBe(1);
      expect(await corrections(it.id)).toHaveLength(1);
    }
    await close();
    await proxy.close();
  });
});

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
  test.each<[what: string, expected: number, source: Source]>([
    ["a collection", 4, { collection }],
    ["a collection that is empty", 0, { collection: `none-${run}` }],
    ["a subcollection", 1, { collection: `${collection}/a/${group}` }],
    ["a collection group", 8, { collectionGroup: group }],
    ["those that are equal", 2, { collection, ...where("state", "==", "public") }],
    ["those that are not", 2, { collection, where: [{ field: "state", op: "!=", value: "public" }] }],
    ["those in a list", 3, { collection, where: [{ field: "state", op: "in", value: ["public", "draft"] }] }],
    ["those in none", 1, { collection, where: [{ field: "state", op: "not-in", value: ["public", "draft"] }] }],
    ["those with a tag", 2, { collection, where: [{ field: "tags", op: "array-contains", value: "y" }] }],
    ["those with any tag", 2, { collection, where: [{ field: "tags", op: "array-contains-any", value: ["x", "y"] }] }],
    ["those of a nested field", 2, { collection, ...where("author.verified", "==", true) }],
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
      "a group since",
      4,
      { collectionGroup: group, where: [{ field: "at", op: ">", value: Timestamp.fromMillis(1_500) }] },
    ],
    ["a sum, without what is no number", 6.5, { collection, sum: "score" }],
    ["a sum of some", 7.5, { collection, sum: "score", ...where("state", "==", "public") }],
    ["a sum of a group", 13, { collectionGroup: group, sum: "score" }],
  ])("%s is %d, given or stored", async (_what, expected, source) => {
    const { ref, id } = counted("source");
    expect(await reconcileCounter(ref, { source, dryRun: true })).toMatchObject({
      expected,
      found: 0,
      corrected: false,
    });
    expect([await corrections(id), await getExactCounter(ref)]).toEqual([[], 0]);
    await setSource(ref, source);
    expect(await reconcileCounter(ref)).toMatchObject({
      expected,
      found: 0,
      drift: expected,
      corrected: expected !== 0,
    });
    expect(await getExactCounter(ref)).toBe(expected);
    expect(await corrections(id)).toMatchObject(expected === 0 ? [] : [{ source, expected, found: 0, by: expected }]);
  });

  test("the counter's own entries: what an admin deleted without an undo is taken back", async () => {
    const { ref, id } = counted("entries");
    await Promise.all([1, 2, 3, 4].map((by) => incrementCounter(ref, by, { key: `k${by}` })));
    await undoIncrement(ref, "k1");
    await setSource(ref, { entries: true });
    expect(await reconcileCounter(ref)).toMatchObject({ expected: 9, found: 9, drift: 0, corrected: false });
    await admin.doc(`${ref.path}/entries/k4`).delete();
    expect(await reconcileCounter(ref)).toMatchObject({ expected: 5, found: 9, drift: -4, corrected: true });
    expect(await getExactCounter(ref)).toBe(5);
    expect(await corrections(id)).toHaveLength(1);
  });

  test("sums of fractions that differ by rounding are the same", async () => {
    const { ref, source } = counted("fractions");
    for (const amount of [0.1, 0.2, 0.3]) await admin.collection(source).add({ amount });
    await admin.doc(`${ref.path}/shards/base`).set({ count: 0.3 + 0.2 + 0.1 + 1e-15 });
    const sum: Source = { collection: source, sum: "amount" };
    expect(await reconcileCounter(ref, { source: sum })).toMatchObject({ drift: 0, corrected: false });
    await admin.collection(source).add({ amount: 0.01 });
    expect(await reconcileCounter(ref, { source: sum })).toMatchObject({ corrected: true });
    expect(await getExactCounter(ref)).toBeCloseTo(0.61, 12);
  });

  test("a shard that cannot be summed is left out, and a base that cannot is replaced", async () => {
    const { ref, source } = counted("malformed");
    await admin.doc(`${source}/one`).set({});
    await admin.doc(`${ref.path}/shards/0`).set({ count: "many" });
    await admin.doc(`${ref.path}/shards/base`).set({ count: "more" });
    expect(await reconcileCounter(ref, { source: { collection: source } })).toMatchObject({ found: 0, drift: 1 });
    expect(await getExactCounter(ref)).toBe(1);
  });

  test("is replaced as a whole, and taken away", async () => {
    const { ref, id } = counted("replaced");
    await setSource(ref, undefined);
    expect((await admin.doc(ref.path).get()).exists).toBe(false);
    await setSource(
      ref,
      { collection, where: [{ field: "state", op: "==", value: "public" }], sum: "score" },
      { every: 300_000 },
    );
    await setSource(ref, { collectionGroup: group }, { alarmBeyond: 5 });
    expect((await admin.doc(ref.path).get()).data()).toEqual({ source: { collectionGroup: group, alarmBeyond: 5 } });
    await setSource(ref, undefined);
    expect((await admin.doc(ref.path).get()).data()).toEqual({});
    await expect(reconcileCounter(ref)).rejects.toMatchObject({
      code: "counter/invalid-source",
      message: expect.stringContaining(`"${id}" has no source of truth; name one with setSource`),
    });
  });

  test("is refused before any I/O if it is none, and where it cannot be summed", async () => {
    const { ref, source } = counted("refused");
    const wrong = { collection: "posts/42" } as Source;
    const refused = { code: "counter/invalid-source" };
    await expect(setSource(ref, wrong)).rejects.toMatchObject(refused);
    await expect(setSource(ref, { entries: true }, { every: 60_000 })).rejects.toMatchObject(refused);
    await expect(setSource(ref, { entries: true }, { every: 0 })).rejects.toMatchObject(refused);
    await expect(setSource(ref, { entries: true }, { alarmBeyond: -1 })).rejects.toMatchObject(refused);
    await expect(reconcileCounter(ref, { source: wrong })).rejects.toMatchObject(refused);
    expect((await admin.doc(ref.path).get()).exists).toBe(false);
    await admin.doc(`${source}/one`).set({ amount: Number.NaN });
    const sum = reconcileCounter(ref, { source: { collection: source, sum: "amount" } });
    await expect(sum).rejects.toMatchObject({ ...refused, message: expect.stringContaining("sums up to NaN") });
  });

  test("survives every publish, and does not keep a counter from starting", async () => {
    const { ref, id } = counted("survives");
    await setSource(ref, { entries: true }, { every: 300_000, alarmBeyond: 2 });
    const { source, nextReconcileAt } = (await admin.doc(ref.path).get()).data() ?? {};
    expect(source).toEqual({ entries: true, everySeconds: 300, alarmBeyond: 2 });
    expect(Math.abs(nextReconcileAt.toMillis() - Date.now() - 300_000)).toBeLessThan(60_000);
    await ensureCounter(ref, { initial: 7 });
    await ensureCounter(ref, { initial: 8 });
    await until(async () => (await readPublished(id))?.total === 7, "the first total");
    await incrementCounter(ref, 1, { key: "k" });
    // While totals are published. What is due stays due.
    for (let n = 0; n < 10; n++) await setSource(ref, { entries: true }, { every: 600_000, alarmBeyond: n });
    await until(async () => (await readPublished(id))?.total === 8, "the second total");
    expect((await admin.doc(ref.path).get()).data()).toMatchObject({
      source: { entries: true, everySeconds: 600, alarmBeyond: 9 },
      nextReconcileAt,
    });
    await deleteCounter(ref);
    await sleep(200);
    expect((await admin.doc(ref.path).get()).exists).toBe(false);
  });
});

test.each([
  ["as in the emulator", process.env.FIRESTORE_EMULATOR_HOST],
  ["as in production", undefined],
])("I6: writers do not wait: reconciling holds no lock, and costs what it says, %s", async (_where, host) => {
  const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
  const { firestore, close } = adminAt(meter.address);
  const { ref, source } = counted("meter", firestore as unknown as Firestore);
  await admin.doc(`${source}/one`).set({});
  // Of these, none is ever folded.
  for (const shard of ["0", "theirs", "ours"]) await admin.doc(`${ref.path}/shards/${shard}`).set({ count: 1 });
  await setSource(ref, { collection: source });
  const before = { ...meter.usage };
  // Where it is set, a snapshot is asked for by its time.
  vi.stubEnv("FIRESTORE_EMULATOR_HOST", host);
  expect(await reconcileCounter(ref)).toMatchObject({ expected: 1, found: 3, corrected: true });
  // The stored source, the aggregation and three shards; base and a correction.
  expect(meter.usage).toEqual({ reads: before.reads + 5, writes: before.writes + 2, deletes: 0 });
  expect(meter.calls.get("RunAggregationQuery")).toBe(1);
  expect(meter.calls.get("transaction")).toBeUndefined();
  await close();
  meter.close();
});

test("deleting a counter deletes its corrections", async () => {
  const { ref, id, source } = counted("deleted");
  await admin.doc(`${source}/one`).set({});
  await reconcileCounter(ref, { source: { collection: source } });
  expect(await corrections(id)).toHaveLength(1);
  await deleteCounter(ref);
  expect(await corrections(id)).toEqual([]);
});

describe("on schedule", () => {
  const minutesAgo = (minutes: number) => Timestamp.fromMillis(Date.now() - minutes * 60_000);
  const drifted = "a counter had drifted from its source, and was corrected";
  const alarms = (id: string) => logged(drifted).filter(({ counter }) => counter === id);
  /** The events that have arrived at the emulator of Eventarc. */
  const events = (id: string) =>
    emulatorsLog()
      .split("Received event at channel ")
      .slice(1)
      .map((text) => ({ channel: text.slice(0, text.indexOf(":")), event: text.slice(text.indexOf("{")) }))
      .filter(({ event }) => event.includes(`"ceString": "${id}"`));

  /** With three documents that were never counted. */
  async function due(name: string, every: number, alarmBeyond?: number) {
    const it = counted(name);
    for (const document of ["a", "b", "c"]) await admin.doc(`${it.source}/${document}`).set({});
    await setSource(it.ref, { collection: it.source }, { every, alarmBeyond });
    return it;
  }

  test("the sweep reconciles the counters that are due, and no others, and says what had drifted", async () => {
    const now = await due("due", 300_000);
    const tolerant = await due("tolerant", 300_000, 3);
    const later = await due("later", 300_000);
    const broken = await due("broken", 300_000);
    const gone = await due("gone", 300_000);
    const nextReconcileAt = minutesAgo(12);
    for (const { ref } of [now, tolerant]) await admin.doc(ref.path).update({ nextReconcileAt });
    await admin.doc(broken.ref.path).update({ nextReconcileAt, "source.collection": "not/a-collection" });
    await admin.doc(gone.ref.path).update({ nextReconcileAt, source: FieldValue.delete() });
    await triggerSweep();

    for (const { ref, id, source } of [now, tolerant]) {
      expect(await corrections(id)).toMatchObject([{ source: { collection: source }, expected: 3, found: 0, by: 3 }]);
      expect(await getExactCounter(ref)).toBe(3);
      // In step with what it was.
      const next = (await admin.doc(ref.path).get()).get("nextReconcileAt");
      expect((next.toMillis() - nextReconcileAt.toMillis()) % 300_000).toBe(0);
      expect(next.toMillis()).toBeGreaterThan(Date.now());
      expect(next.toMillis()).toBeLessThan(Date.now() + 300_000);
    }
    await until(async () => (await readPublished(now.id))?.total === 3, "the total");
    expect(alarms(now.id)).toMatchObject([
      { severity: "ERROR", expected: 3, found: 0, drift: 3, asOf: expect.any(String) },
    ]);
    expect(alarms(tolerant.id)).toEqual([]);

    expect(await corrections(later.id)).toEqual([]);
    // One that cannot be reconciled keeps no other from it, and is not tried again at once.
    const failed = logged("could not reconcile a counter").filter(({ counter }) => counter === broken.id);
    expect(failed).toMatchObject([
      { error: expect.stringContaining('collection is "not/a-collection"; pass the path') },
    ]);
    expect((await admin.doc(broken.ref.path).get()).get("nextReconcileAt").toMillis()).toBeGreaterThan(Date.now());
    expect((await admin.doc(gone.ref.path).get()).get("nextReconcileAt")).toBeUndefined();

    await triggerSweep();
    expect(await corrections(now.id)).toHaveLength(1);
    expect(alarms(now.id)).toHaveLength(1);

    await until(() => events(now.id).length > 0, "the event");
    const [{ channel, event } = { channel: "", event: "" }] = events(now.id);
    expect(channel).toMatch(/^projects\/[^/]+\/locations\/us-central1\/channels\/firebase$/);
    expect(event).toContain('"type": "firestore-tally.v1.drift"');
    expect(event).toContain('\\"drift\\":3');
    expect(events(now.id)).toHaveLength(1);
    expect(events(tolerant.id)).toEqual([]);
  });

  test("more counters than it attends to at once are all reconciled", async () => {
    const many = await Promise.all(Array.from({ length: 11 }, (_, n) => due(`many${n}-`, 300_000, 10)));
    for (const [n, { ref }] of many.entries()) await admin.doc(ref.path).update({ nextReconcileAt: minutesAgo(n % 3) });
    await triggerSweep();
    expect(await Promise.all(many.map(({ ref }) => getExactCounter(ref)))).toEqual(many.map(() => 3));
  });

  describe("the event", () => {
    /** What stands in for Eventarc: it answers with a status, and keeps what it was sent. */
    async function eventarc(status: number) {
      const received: { url: string | undefined; body: string }[] = [];
      const server = createServer(async (request, response) => {
        let body = "";
        for await (const chunk of request) body += chunk;
        received.push({ url: request.url, body });
        response.writeHead(status, { "content-type": "application/json" }).end("{}");
      });
      await once(server.listen(0, "127.0.0.1"), "listening");
      vi.stubEnv("CLOUD_EVENTARC_EMULATOR_HOST", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      vi.stubEnv("EVENTARC_CHANNEL", "locations/europe-west1/channels/tally");
      return { received, close: () => server.close() };
    }

    /** A sweep's reconciling, in this process, of a collection of its own. */
    async function sweepOnce() {
      const collection = unwatched();
      const ref = counter(admin, "drifting", { collection });
      await admin.doc(`${collection}-source/one`).set({});
      await setSource(ref, { collection: `${collection}-source` }, { every: 300_000 });
      await admin.doc(ref.path).update({ nextReconcileAt: minutesAgo(1) });
      const config = { counted: undefined } as Backend["config"];
      const sleep = () => new Promise<void>(() => {});
      const backend = { counters: admin.collection(collection), config, now: Date.now, sleep } as unknown as Backend;
      await reconcileDue(backend);
      return { ref, again: () => reconcileDue(backend) };
    }

    test("is published to the channel the deployment names", async () => {
      const { received, close } = await eventarc(200);
      await sweepOnce();
      expect(received).toHaveLength(1);
      expect(received[0]?.url).toMatch(/^\/projects\/[^/]+\/locations\/europe-west1\/channels\/tally:publishEvents$/);
      const [event] = JSON.parse(received[0]?.body ?? "").events;
      expect(event).toMatchObject({ type: DRIFT_EVENT, attributes: { subject: { ceString: "drifting" } } });
      expect(JSON.parse(event.textData)).toMatchObject({ counter: "drifting", expected: 1, found: 0, drift: 1 });
      close();
    });

    test("that cannot be published undoes and repeats nothing", async () => {
      const { received, close } = await eventarc(403);
      const { ref, again } = await sweepOnce();
      await again();
      expect(received).toHaveLength(1);
      expect(await getExactCounter(ref)).toBe(1);
      expect((await admin.collection(`${ref.path}/corrections`).get()).size).toBe(1);
      expect((await admin.doc(ref.path).get()).get("nextReconcileAt").toMillis()).toBeGreaterThan(Date.now());
      close();
    });

    test.each([
      ["", 0],
      ["another.app.v1.event", 0],
      [`another.app.v1.event,${DRIFT_EVENT}`, 1],
    ])("is one of those the installer of the extension has chosen: %j", async (selected, events) => {
      vi.stubEnv("EXT_SELECTED_EVENTS", selected);
      const { received, close } = await eventarc(200);
      const { ref } = await sweepOnce();
      expect(received).toHaveLength(events);
      expect(await getExactCounter(ref)).toBe(1);
      close();
    });

    test("is none where there is no channel", async () => {
      const { received, close } = await eventarc(200);
      vi.stubEnv("EVENTARC_CHANNEL", "");
      const { ref } = await sweepOnce();
      expect([received, await getExactCounter(ref)]).toEqual([[], 1]);
      close();
    });
  });
});

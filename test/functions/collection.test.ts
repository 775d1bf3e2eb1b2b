/**
 * Counting a collection: the deployed functions count `posts/{post}/comments` (the parameters are in scripts/test.ts). Where a
 * schedule of events matters, the backend's own code runs in this process (testkit/inProcessBackend.ts).
 */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import type { CollectionReference, DocumentReference, Timestamp } from "firebase-admin/firestore";
import { counter, getCounter, incrementCounter } from "firestore-tally";
import { ensureCounter, getExactCounter, resetCounter, counter as serverCounter } from "firestore-tally/admin";
import { afterAll, beforeAll, expect, test } from "vitest";
import { counterIdOf, parseCountedCollection } from "../../core/src/index.ts";
import { aggregate } from "../../functions/src/aggregate.ts";
import type { WriteEvent } from "../../functions/src/cause.ts";
import { readCounter } from "../../functions/src/counterDocument.ts";
import { measureCollection } from "../../functions/src/measure.ts";
import type { Measurement } from "../../functions/src/measurement.ts";
import { nextPublished } from "../../functions/src/nextPublished.ts";
import { publish } from "../../functions/src/publish.ts";
import { runTask } from "../../functions/src/runTask.ts";
import { runSweep } from "../../functions/src/sweep.ts";
import { toMillis } from "../../functions/src/time.ts";
import { createWakeHandler, latestDeletionTime } from "../../functions/src/wake.ts";
import { admin, adminAt, type Client, client } from "../../testkit/clients.ts";
import { invocations, logged } from "../../testkit/deployedFunctions.ts";
import { eventHistories, inProcessBackend, playHistory, SNAPSHOT_LAG } from "../../testkit/inProcessBackend.ts";
import { startMeter } from "../../testkit/meter.ts";
import { readPublished, sumOfShards } from "../../testkit/storedCounter.ts";
import { possibleSums, publishGaps, watchTotals } from "../../testkit/traffic.ts";
import { until } from "../../testkit/until.ts";

let user: Client;
beforeAll(async () => {
  user = client();
  // The emulator starts the functions for their first event.
  const document = await commentsOf("warmup").add({});
  await counted("warmup", 1);
  await document.delete();
  await counted("warmup", 0);
});
afterAll(() => user.close());

const commentsOf = (post: string) => admin.collection(`posts/${post}/comments`);
const counted = async (post: string, total: number) =>
  until(async () => (await readPublished(`comments:${post}`))?.total === total, `comments:${post} to be ${total}`);

/** Creates and deletes documents by single writes, batches and transactions, and records each commit. */
class Traffic {
  readonly commits: { at: number; by: number }[] = [];
  events = 0;
  readonly #collection: CollectionReference;
  readonly #living: DocumentReference[] = [];

  constructor(collection: CollectionReference) {
    this.#collection = collection;
  }

  /** @returns creations less deletions up to an instant */
  sum(until = Number.POSITIVE_INFINITY): number {
    return this.commits.filter(({ at }) => at <= until).reduce((all, { by }) => all + by, 0);
  }

  async one(choice: number): Promise<void> {
    const kinds = [this.create, this.remove, this.batch, this.transaction, this.createAndRemove];
    const { [choice % 5]: write = this.batch } = kinds;
    await write.call(this);
  }

  async create(): Promise<void> {
    const document = this.#collection.doc();
    this.#book((await document.create({ text: "…" })).writeTime, 1);
    this.#living.push(document);
  }

  async remove(): Promise<void> {
    const document = this.#living.shift();
    if (document) this.#book((await document.delete()).writeTime, -1);
  }

  async batch(): Promise<void> {
    const batch = admin.batch();
    const gone = this.#living.splice(0, 2);
    const fresh = Array.from({ length: 5 }, () => this.#collection.doc());
    for (const document of gone) batch.delete(document);
    for (const document of fresh) batch.create(document, { text: "…" });
    const [written] = await batch.commit();
    this.#book(written?.writeTime, fresh.length, gone.length);
    this.#living.push(...fresh);
  }

  /** A document so short-lived that most measurements miss it. */
  async createAndRemove(): Promise<void> {
    const document = this.#collection.doc();
    this.#book((await document.create({ text: "…" })).writeTime, 1);
    this.#book((await document.delete()).writeTime, -1);
  }

  async transaction(): Promise<void> {
    const fresh = [this.#collection.doc(), this.#collection.doc()] as const;
    await admin.runTransaction(async (transaction) => {
      for (const document of fresh) {
        await transaction.get(document);
      }
      for (const document of fresh) transaction.create(document, { text: "…" });
    });
    const written = await fresh[0].get();
    this.#book(written.createTime, fresh.length);
    this.#living.push(...fresh);
  }

  #book(at: Timestamp | undefined, created: number, deleted = 0): void {
    this.commits.push({ at: toMillis(at as Timestamp), by: created > 0 ? created - deleted : created });
    this.events += Math.abs(created) + deleted;
  }
}

test("hundreds of creations and deletions are counted exactly, at each asOf and at the end, without calls by clients", async () => {
  const post = "busy";
  const id = `comments:${post}`;
  const traffic = new Traffic(commentsOf(post));
  const watcher = client();
  const seen = await watchTotals(watcher, id);
  await Promise.all(
    Array.from({ length: 6 }, async (_, writer) => {
      for (let n = 0; n < 20; n++) {
        await traffic.one(n * 7 + writer);
        await sleep(160);
      }
    }),
  );
  await seen.reached(traffic.sum());
  seen.stop();
  const apart = publishGaps(seen).map(Math.round).join(", ");
  console.log(`${traffic.events} creations and deletions, total ${traffic.sum()}, publishes ${apart} ms apart`);

  expect(traffic.events).toBeGreaterThan(200);
  expect(seen.seen.length).toBeGreaterThanOrEqual(3);
  expect(seen.seen.length).toBeLessThan(traffic.events / 20);
  expect(Math.min(...publishGaps(seen))).toBeGreaterThanOrEqual(1_000);
  for (const { total, asOf } of seen.seen) {
    const at = (asOf?.seconds ?? 0) * 1_000 + (asOf?.nanoseconds ?? 0) / 1e6;
    // Exact, except that the emulator may miss commits of the last milliseconds.
    const recent = traffic.commits.filter((commit) => commit.at <= at && commit.at > at - SNAPSHOT_LAG);
    expect(possibleSums(traffic.sum(at - SNAPSHOT_LAG), recent)).toContain(total);
  }
  expect((await commentsOf(post).count().get()).data().count).toBe(traffic.sum());
  // Read without the rules, which do not let clients read the collection.
  expect(await getExactCounter(serverCounter(admin, id))).toBe(traffic.sum());
  expect((await getCounter(counter(watcher.db, id))).shardCount).toBe(1);
  await watcher.close();
});

test("the total is 0 after all documents were deleted", async () => {
  const documents = await Promise.all(Array.from({ length: 7 }, () => commentsOf("emptied").add({})));
  await counted("emptied", 7);
  const batch = admin.batch();
  for (const document of documents) batch.delete(document);
  await batch.commit();
  await counted("emptied", 0);
  expect((await admin.collection("counters/comments:emptied/shards").get()).empty).toBe(true);
});

test("an update of a counted document invokes no function", async () => {
  const document = await commentsOf("edited").add({ text: "first" });
  await counted("edited", 1);
  const before = [invocations("created"), invocations("deleted")] as const;
  for (let n = 0; n < 20; n++) await document.update({ text: `edit ${n}` });
  // Invocations by the updates would begin before this one.
  await commentsOf("edited").add({ text: "second" });
  await counted("edited", 2);
  expect([invocations("created"), invocations("deleted")]).toEqual([before[0] + 1, before[1]]);
});

test.concurrent("increments by clients do not change the total of a counted collection", async () => {
  const id = "comments:hostile";
  await commentsOf("hostile").add({});
  await counted("hostile", 1);
  // A client of its own, since the incrementing one shows its own increments before the next total.
  const watcher = client();
  const seen = await watchTotals(watcher, id);
  for (let n = 0; n < 10; n++) {
    await incrementCounter(counter(user.db, id));
    await sleep(100);
  }
  await until(async () => ((await readPublished(id))?.publishes ?? 0) > 1, "the publish after an increment");
  await commentsOf("hostile").add({});
  await seen.reached(2);
  seen.stop();
  expect(new Set(seen.seen.map(({ total }) => total))).toEqual(new Set([1, 2]));
  expect(await sumOfShards(id)).toBe(10);
  await watcher.close();
});

test.concurrent("a server's reset does not change the total, and ensureCounter counts documents that existed before", async () => {
  await commentsOf("reset").add({});
  await counted("reset", 1);
  await resetCounter(serverCounter(admin, "comments:reset"), 500);
  await until(
    async () => (await readPublished("comments:reset"))?.publishes === 2,
    "the publish that follows the reset",
  );
  expect((await readPublished("comments:reset"))?.total).toBe(1);

  // As before the deployment: the functions have not counted these documents.
  await commentsOf("old").add({});
  await commentsOf("old").add({});
  await counted("old", 2);
  await admin.doc("counters/comments:old").delete();
  await ensureCounter(serverCounter(admin, "comments:old"));
  await counted("old", 2);
});

test.concurrent.each(["é中文", "a b", "a%2Fb", "a:b:c", "100%", "...", "{post}"])(
  "documents below the id %j are counted",
  async (post) => {
    const document = await commentsOf(post).add({});
    await counted(post, 1);
    await document.delete();
    await counted(post, 0);
  },
);

test.concurrent("a collection whose path is too long for a counter id is not counted, and logged", async () => {
  const post = "x".repeat(1_495);
  await commentsOf(post).add({});
  await until(() => logged("cannot count this collection").length > 0, "the report");
  expect(logged("cannot count this collection")).toEqual([
    expect.objectContaining({ severity: "ERROR", collection: `posts/${post}/comments` }),
  ]);
});

// ── The backend's own code ────────────────────────────────────────────────────────────────────────────────────────

let made = 0;
/** A backend in this process that counts a collection of its own. */
function countingBackend(firestore = admin) {
  const path = `counted${process.pid}x${made++}/backend/documents`;
  const config = parseCountedCollection(path);
  const { backend, tasks } = inProcessBackend({ counted: config }, firestore);
  const counterId = counterIdOf(path, config) as string;
  const collection = admin.collection(path);
  const ref = backend.counters.doc(counterId);
  const created = async (): Promise<WriteEvent> => {
    const { writeTime } = await collection.doc().create({});
    return { counterId, committedAt: toMillis(writeTime) };
  };
  const measure = async () => (await measureCollection(backend, counterId)) as Measurement;
  const total = async () => (await ref.get()).get("total");
  return { backend, tasks, counterId, collection, ref, created, measure, total };
}

test.concurrent("I2: the count is right in the end when events are late, duplicated or out of order, and instances die anywhere", async () => {
  await fc.assert(
    fc.asyncProperty(eventHistories, async (history) => {
      const { backend, tasks, counterId, collection, ref, total } = countingBackend();
      const living: DocumentReference[] = [];
      const event = (committedAt: number): WriteEvent => ({ counterId, committedAt });
      await playHistory(history, { backend, tasks }, async (choice) => {
        const gone = choice % 3 === 0 ? living.pop() : undefined;
        if (gone) {
          await gone.delete();
          return [
            event(latestDeletionTime(new Date(Math.floor(Date.now() / 1_000) * 1_000).toISOString(), Date.now())),
          ];
        }
        const document = collection.doc();
        const at = toMillis((await document.create({})).writeTime);
        if (choice % 7 === 1) {
          await document.delete();
          return [event(at), event(Date.now())];
        }
        living.push(document);
        // Increments by clients also trigger the functions.
        if (choice % 5 !== 2) return [event(at)];
        const { writeTime } = await ref.collection("shards").doc("0").set({ count: choice });
        return [event(at), { ...event(toMillis(writeTime)), shardId: "0" }];
      });
      expect((await total()) ?? 0).toBe(living.length);
    }),
    { numRuns: 5, endOnFailure: true },
  );
});

test.concurrent("I3: an old count is not published over a newer one", async () => {
  const { backend, ref, created, measure, total } = countingBackend();
  const event = await created();
  const cause = { at: event.committedAt, isPoll: false };
  await aggregate(backend, await readCounter(ref), cause);
  const before = await readCounter(ref);
  const late = await measure();
  await sleep(backend.config.minInterval);
  const second = await created();
  await aggregate(backend, await readCounter(ref), { at: second.committedAt, isPoll: false });
  expect(await total()).toBe(2);
  const next = nextPublished(cause, { previous: before.published }, late, backend.config);
  expect(await publish(before, next, late.asOf, backend.config)).toBeUndefined();
  expect(await total()).toBe(2);
});

test.concurrent("I6: counting takes no lock, writes the counter document alone, and costs 1 read per 1,000 documents", async () => {
  const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
  const { firestore, close } = adminAt(meter.address);
  const { backend, tasks, collection, ref, created, total } = countingBackend(firestore);
  for (let n = 0; n < 5; n++) {
    const batch = admin.batch();
    for (let i = 0; i < 400; i++) batch.create(collection.doc(), {});
    await batch.commit();
  }
  const wake = createWakeHandler(backend);
  const usedBy = async (act: () => Promise<void>) => {
    const { reads, writes } = meter.usage;
    await act();
    return { reads: meter.usage.reads - reads, writes: meter.usage.writes - writes };
  };

  /** So long before the measurement that a snapshot of the emulator is certain to include it. */
  const createdEarlier = async () => {
    const event = await created();
    await sleep(2 * SNAPSHOT_LAG);
    return event;
  };

  const first = await createdEarlier();
  // The counter document, and 2,001 documents.
  expect(await usedBy(() => wake(first))).toEqual({ reads: 1 + 3, writes: 1 });
  // The same event again, in the instance that has published and in a new one.
  expect(await usedBy(() => wake(first))).toEqual({ reads: 0, writes: 0 });
  expect(await usedBy(() => createWakeHandler(backend)(first))).toEqual({ reads: 1, writes: 0 });
  for (let task = tasks.shift(); task; task = tasks.shift()) await runTask(backend, task);
  await sleep(backend.config.maxInterval);

  const second = await createdEarlier();
  expect(await usedBy(() => wake(second))).toEqual({ reads: 1 + 3, writes: 1 });
  expect(await total()).toBe(2_002);
  for (let task = tasks.shift(); task; task = tasks.shift()) await runTask(backend, task);
  await runSweep(backend);
  expect((await admin.collection(`${ref.path}/shards`).get()).empty).toBe(true);
  expect(Object.fromEntries(meter.calls)).not.toHaveProperty("transaction");
  expect(meter.calls.get("RunAggregationQuery")).toBeGreaterThan(0);
  await close();
  meter.close();
});

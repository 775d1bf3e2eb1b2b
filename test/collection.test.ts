/**
 * Counting a collection: the deployed functions count `posts/{post}/comments` (the parameters are in test/run.ts). Where a
 * schedule of events matters, the backend's own code runs in this process (support/lab.ts).
 */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import type { CollectionReference, DocumentReference, Timestamp } from "firebase-admin/firestore";
import { counter, getCounter, getExactCounter, incrementCounter } from "firestore-tally";
import { ensureCounter, resetCounter, counter as serverCounter } from "firestore-tally/admin";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startMeter } from "../bench/meter.ts";
import { aggregate, runTask } from "../functions/src/aggregate.ts";
import { counterOf, deletedBy, parseCounted } from "../functions/src/counted.ts";
import { see, toMillis, toTimestamp } from "../functions/src/counter.ts";
import { nextPublished, publish } from "../functions/src/publish.ts";
import { measureCounter } from "../functions/src/recount.ts";
import { sweep } from "../functions/src/sweep.ts";
import { createWake, type Written } from "../functions/src/wake.ts";
import { admin, adminAt, type Client, client } from "./support/app.ts";
import { anyHistory, lab, MARGIN, play } from "./support/lab.ts";
import { gaps, possibleSums, watch } from "./support/load.ts";
import { invocations, logged, published, sumOfShards, until } from "./support/suite.ts";

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
  until(async () => (await published(`comments:${post}`))?.total === total, `comments:${post} to be ${total}`);

/** Creates and deletes documents in every way there is, and keeps the books: by how much, committed when. */
class Traffic {
  readonly commits: { at: number; by: number }[] = [];
  events = 0;
  readonly #collection: CollectionReference;
  readonly #living: DocumentReference[] = [];

  constructor(collection: CollectionReference) {
    this.#collection = collection;
  }

  /** @returns what was created less what was deleted, up to an instant */
  sum(until = Number.POSITIVE_INFINITY): number {
    return this.commits.filter(({ at }) => at <= until).reduce((all, { by }) => all + by, 0);
  }

  async one(choice: number): Promise<void> {
    const { [choice % 5]: act = this.batch } = [this.create, this.remove, this.batch, this.transaction, this.atOnce];
    await act.call(this);
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

  /** Created and deleted, with nobody measuring in between for certain. */
  async atOnce(): Promise<void> {
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

test("hundreds of creations and deletions: exact at each asOf and at the end, forward, calm, without any call", async () => {
  const post = "busy";
  const id = `comments:${post}`;
  const traffic = new Traffic(commentsOf(post));
  const watcher = client();
  const seen = await watch(watcher, id);
  await Promise.all(
    Array.from({ length: 6 }, async (_, writer) => {
      for (let n = 0; n < 40; n++) {
        await traffic.one(n * 7 + writer);
        await sleep(80);
      }
    }),
  );
  await seen.reached(traffic.sum());
  seen.stop();
  const apart = gaps(seen).map(Math.round).join(", ");
  console.log(`${traffic.events} creations and deletions, total ${traffic.sum()}, publishes ${apart} ms apart`);

  expect(traffic.events).toBeGreaterThan(400);
  expect(seen.seen.length).toBeGreaterThanOrEqual(3);
  expect(seen.seen.length).toBeLessThan(traffic.events / 20);
  expect(Math.min(...gaps(seen))).toBeGreaterThanOrEqual(1_000);
  for (const { total, asOf } of seen.seen) {
    const at = (asOf?.seconds ?? 0) * 1_000 + (asOf?.nanoseconds ?? 0) / 1e6;
    // Exactly, but for the commits of the last milliseconds, which the emulator may leave out.
    const recent = traffic.commits.filter((commit) => commit.at <= at && commit.at > at - MARGIN);
    expect(possibleSums(traffic.sum(at - MARGIN), recent)).toContain(total);
  }
  expect((await commentsOf(post).count().get()).data().count).toBe(traffic.sum());
  expect(await getExactCounter(counter(watcher.db, id))).toBe(traffic.sum());
  expect((await getCounter(counter(watcher.db, id))).shardCount).toBe(1);
  await watcher.close();
});

test("down to nothing again, when the collection is emptied", async () => {
  const documents = await Promise.all(Array.from({ length: 7 }, () => commentsOf("emptied").add({})));
  await counted("emptied", 7);
  expect(await sumOfShards("comments:emptied")).toBe(7);
  const batch = admin.batch();
  for (const document of documents) batch.delete(document);
  await batch.commit();
  await counted("emptied", 0);
  expect(await sumOfShards("comments:emptied")).toBe(0);
});

test("an update of a counted document invokes nothing", async () => {
  const document = await commentsOf("edited").add({ text: "first" });
  await counted("edited", 1);
  const before = [invocations("created"), invocations("deleted")] as const;
  for (let n = 0; n < 20; n++) await document.update({ text: `edit ${n}` });
  // Whatever the updates had invoked would have begun before this.
  await commentsOf("edited").add({ text: "second" });
  await counted("edited", 2);
  expect([invocations("created"), invocations("deleted")]).toEqual([before[0] + 1, before[1]]);
});

test.concurrent("what clients add to the shards of such a counter moves no published total", async () => {
  const id = "comments:hostile";
  await commentsOf("hostile").add({});
  await counted("hostile", 1);
  // Not the client that adds: it would see its own increments before the next total.
  const watcher = client();
  const seen = await watch(watcher, id);
  for (let n = 0; n < 10; n++) {
    await incrementCounter(counter(user.db, id));
    await sleep(100);
  }
  await until(async () => (await sumOfShards(id)) === 1, "the shards to sum to the count again");
  await commentsOf("hostile").add({});
  await seen.reached(2);
  seen.stop();
  expect(new Set(seen.seen.map(({ total }) => total))).toEqual(new Set([1, 2]));
  expect(await sumOfShards(id)).toBe(2);
  await watcher.close();
});

test.concurrent("a server's reset does not move it either; and its ensureCounter starts a counter of documents that were there before", async () => {
  await commentsOf("reset").add({});
  await counted("reset", 1);
  await resetCounter(serverCounter(admin, "comments:reset"), 500);
  await until(async () => (await sumOfShards("comments:reset")) === 1, "the reset to be undone");
  expect((await published("comments:reset"))?.total).toBe(1);

  // As if it had been deployed later: the functions have not counted these.
  await commentsOf("old").add({});
  await commentsOf("old").add({});
  await counted("old", 2);
  for (const path of ["shards/base", ""]) await admin.doc(`counters/comments:old/${path}`.replace(/\/$/, "")).delete();
  await ensureCounter(serverCounter(admin, "comments:old"));
  await counted("old", 2);
});

test.concurrent.each(["é中文", "a b", "a%2Fb", "a:b:c", "100%", "...", "{post}"])(
  "the documents below %j are counted like any others",
  async (post) => {
    const document = await commentsOf(post).add({});
    await counted(post, 1);
    await document.delete();
    await counted(post, 0);
  },
);

test.concurrent("a collection whose counter could have no id is not counted, which is logged", async () => {
  const post = "x".repeat(1_495);
  await commentsOf(post).add({});
  await until(() => logged("cannot count this collection").length > 0, "the report");
  expect(logged("cannot count this collection")).toEqual([
    expect.objectContaining({ severity: "ERROR", collection: `posts/${post}/comments` }),
  ]);
});

// ── The backend's own code ────────────────────────────────────────────────────────────────────────────────────────

let made = 0;
/** A lab whose counter `documents` counts a collection of its own. */
function countingLab(firestore = admin) {
  const path = `counted${process.pid}x${made++}/lab/documents`;
  const config = parseCounted(path);
  const { backend, tasks } = lab({ counted: config }, firestore);
  const counterId = counterOf(path, config) as string;
  const collection = admin.collection(path);
  const ref = backend.counters.doc(counterId);
  const base = ref.collection("shards").doc("base");
  const created = async (): Promise<Written> => {
    const { writeTime } = await collection.doc().create({});
    return { counterId, committedAt: toMillis(writeTime) };
  };
  /** What is published, and what the shards sum to. */
  const state = async () => {
    const shards = await ref.collection("shards").get();
    const sum = shards.docs.reduce((all, shard) => all + shard.get("count"), 0);
    return { total: (await ref.get()).get("total"), sum };
  };
  return { backend, tasks, counterId, collection, ref, base, created, state };
}

test.concurrent("I2: whatever events are late, doubled or out of order, and wherever instances die, the count is right in the end", async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async (history) => {
      const { backend, tasks, counterId, collection, base, state } = countingLab();
      const living: DocumentReference[] = [];
      const event = (committedAt: number): Written => ({ counterId, committedAt });
      await play(history, { backend, tasks }, async (choice) => {
        const gone = choice % 3 === 0 ? living.pop() : undefined;
        if (gone) {
          await gone.delete();
          return [event(deletedBy(new Date(Math.floor(Date.now() / 1_000) * 1_000).toISOString(), Date.now()))];
        }
        const document = collection.doc();
        const at = toMillis((await document.create({})).writeTime);
        if (choice % 7 === 1) {
          await document.delete();
          return [event(at), event(Date.now())];
        }
        living.push(document);
        // The functions' own write of `base` also wakes them.
        const own = (await base.get()).updateTime;
        return [event(at), ...(own ? [{ ...event(toMillis(own)), shardId: "base" }] : [])];
      });
      const { total, sum } = await state();
      expect([total ?? 0, sum]).toEqual([living.length, living.length]);
    }),
    { numRuns: 5, endOnFailure: true },
  );
});

test.concurrent("I5: a measurement that is older than a publish which moved base corrects nothing twice", async () => {
  const { backend, ref, created, state } = countingLab();
  const event = await created();
  const late = await measureCounter(backend, ref);
  await aggregate(backend, await see(ref), event);
  expect(await state()).toEqual({ total: 1, sum: 1 });
  // As if it had measured before and read the counter document after.
  const current = await see(ref);
  const next = nextPublished(current.published, late, backend.config);
  expect(await publish(current, next, late)).toBe(false);
  expect(await state()).toEqual({ total: 1, sum: 1 });

  const corrected = await measureCounter(backend, ref);
  await created();
  const grown = await measureCounter(backend, ref);
  await ref.collection("shards").doc("base").update({ count: 5 });
  expect(await publish(current, nextPublished(current.published, grown, backend.config), grown)).toBe(false);
  expect([corrected.recount?.correction, grown.recount?.correction?.count]).toEqual([undefined, 2]);
});

test.concurrent("I1: a measurement that may lack what the last publish wrote to base is taken again", async () => {
  const { backend, ref, created, state } = countingLab();
  const stale = await measureCounter(backend, ref);
  await aggregate(backend, await see(ref), await created());
  // As if the last publish had taken long, and a snapshot of a moment after it had missed its commit.
  const { writeTime } = await ref.update({ asOf: toTimestamp(Date.now() - 60_000) });
  const event = await created();
  const asOf = toTimestamp(toMillis(writeTime) + MARGIN / 2);
  await aggregate(backend, await see(ref), event, { ...stale, total: 2, asOf });
  expect(await state()).toEqual({ total: 2, sum: 2 });
});

test.concurrent("I6, costs: no lock; 1 read per 1,000 documents; the own write of base costs a read, and aggregates nothing", async () => {
  const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
  const { firestore, close } = adminAt(meter.address);
  const { backend, tasks, counterId, collection, base, created, state } = countingLab(firestore);
  for (let n = 0; n < 5; n++) {
    const batch = admin.batch();
    for (let i = 0; i < 400; i++) batch.create(collection.doc(), {});
    await batch.commit();
  }
  const wake = createWake(backend);
  const usedBy = async (act: () => Promise<void>) => {
    const { reads, writes } = meter.usage;
    await act();
    return { reads: meter.usage.reads - reads, writes: meter.usage.writes - writes };
  };

  const first = await created();
  // The counter document, an empty list of shards, 2,001 documents; the counter document and `base`.
  expect(await usedBy(() => wake(first))).toEqual({ reads: 1 + 1 + 3, writes: 2 });
  const own = { counterId, shardId: "base", committedAt: toMillis((await base.get()).updateTime as Timestamp) };
  const scheduled = tasks.length;
  // In the instance that has published, and in one that knows nothing.
  for (const one of [wake, createWake(backend)]) {
    expect(await usedBy(() => one(own))).toEqual({ reads: 1, writes: 0 });
  }
  expect(tasks.length).toBe(scheduled);
  for (let task = tasks.shift(); task; task = tasks.shift()) await runTask(backend, task);
  await sleep(backend.config.maxInterval);

  const second = await created();
  expect(await usedBy(() => wake(second))).toEqual({ reads: 1 + 1 + 3, writes: 2 });
  expect(await state()).toEqual({ total: 2_002, sum: 2_002 });
  for (let task = tasks.shift(); task; task = tasks.shift()) await runTask(backend, task);
  await sweep(backend);
  expect(Object.fromEntries(meter.calls)).not.toHaveProperty("transaction");
  expect(meter.calls.get("RunAggregationQuery")).toBeGreaterThan(0);
  await close();
  meter.close();
});

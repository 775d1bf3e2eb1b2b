/**
 * Reads a bounded sample of the counters: some by id, from a random letter on so that each run sees others, and those whose
 * scheduled measurement or reconcile is long past. It writes nothing.
 *
 * Counters are found by their shards, because one that was never published has no document. One query on names skips from a
 * shard to the next counter, for 1 read each.
 */
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type CollectionReference, type DocumentSnapshot, FieldPath, Timestamp } from "firebase-admin/firestore";
import { reconcileCounter } from "../../../admin/src/index.ts";
import { indexedSums, sumOfListed } from "../../../admin/src/internal.ts";
import { codeOf, FAILED_PRECONDITION, parseSource, SHARDS } from "../../../core/src/index.ts";
import { POLLED_PHASES } from "../../../functions/src/decisions.ts";
import type { CommandContext } from "../commandContext.ts";
import { toCommandError } from "../commandError.ts";
import type { CounterSample, Drift, SampledCounter } from "./counterFacts.ts";

/** Counts the reads that Firestore bills. */
export interface ReadMeter {
  reads: number;
}

/** Shards listed one by one. Of more, only the sums are read. */
const LISTED_SHARDS = 25;

/** Counters compared with their source. Each costs 1 read per shard and 1 per 1,000 documents of the source. */
const COMPARED = 5;
const COMPARED_SHARDS = 1_000;
const COMPARED_TOTAL = 1_000_000;

/** A reconcile that is later than this was not made by the sweep, which runs every five minutes. */
const OVERDUE_MS = 15 * 60_000;
const LISTED_OVERDUE = 5;

/** They sort before and behind the ids that there are. */
const [FIRST, LAST] = ["\u0001", "\u{10ffff}"];

/** Counters read at the same time. */
const CONCURRENCY = 20;

/** Cost: up to 3 reads per counter, its shards up to 25, or 2 reads per 1,000 shards; and that of the comparisons. */
export async function readCounters(context: CommandContext, size: number, meter: ReadMeter): Promise<CounterSample> {
  const { ids, isComplete } = await sampleIds(context, size, meter);
  const late = await latePolls(context, size, meter);
  const all = [...new Set([...ids, ...late])].toSorted();
  const counters: ReadCounter[] = [];
  while (counters.length < all.length) {
    const page = all.slice(counters.length, counters.length + CONCURRENCY);
    counters.push(...(await Promise.all(page.map((id) => readOne(context, id, meter)))));
  }
  const compared = counters.filter(isComparable).slice(0, COMPARED);
  const drifts = new Map<string, Drift>();
  for (const { id } of compared) drifts.set(id, await compare(context, id, meter));
  const { overdue, now } = await overdueReconciles(context, meter);
  return {
    counters: counters.map((counter) => ({ ...counter, drift: drifts.get(counter.id) ?? null })),
    isComplete,
    overdue,
    now,
  };
}

async function sampleIds({ firestore, target }: CommandContext, size: number, meter: ReadMeter) {
  const { collection } = target;
  const shards = firestore.collectionGroup(SHARDS).select().orderBy(FieldPath.documentId()).limit(1);
  const ids: string[] = [];
  const start = String.fromCharCode(randomInt(48, 123));
  const collect = async (from: string, to: string) => {
    for (let after = `${collection}/${from}/${SHARDS}/${FIRST}`; ids.length < size; ) {
      const [shard] = (await shards.startAfter(after).get()).docs;
      meter.reads++;
      if (!shard) return true;
      const [first, id = "", , , ...deeper] = shard.ref.path.split("/");
      if (first !== collection || (to !== "" && id >= to)) return true;
      if (deeper.length === 0) ids.push(id);
      after = `${shard.ref.parent.path}/${LAST}`;
    }
    return false;
  };
  const isComplete = (await collect(start, "")) && (await collect(FIRST, start));
  return { ids, isComplete };
}

/** Polled counters whose poll is past. Cost: 1 read for each that is polled, up to a limit. */
async function latePolls({ firestore, target }: CommandContext, limit: number, meter: ReadMeter): Promise<string[]> {
  const polled = firestore.collection(target.collection).where("phase", "in", POLLED_PHASES).limit(limit);
  const { docs, readTime } = await polled.select("nextPollAt").get();
  meter.reads += Math.max(docs.length, 1);
  return docs
    .filter((counter) => (millis(counter.get("nextPollAt")) ?? Infinity) < readTime.toMillis())
    .map(({ id }) => id);
}

async function overdueReconciles({ firestore, target }: CommandContext, meter: ReadMeter) {
  const before = Timestamp.fromMillis(Date.now() - OVERDUE_MS);
  const counters = firestore.collection(target.collection);
  const due = counters.where("nextReconcileAt", "<=", before).orderBy("nextReconcileAt").limit(LISTED_OVERDUE);
  const { docs, readTime } = await due.select("nextReconcileAt").get();
  meter.reads += Math.max(docs.length, 1);
  const overdue = docs.map((counter) => ({ id: counter.id, dueAt: millis(counter.get("nextReconcileAt")) ?? 0 }));
  return { overdue, now: readTime.toMillis() };
}

type ReadCounter = Omit<SampledCounter, "drift">;

async function readOne({ firestore, target }: CommandContext, id: string, meter: ReadMeter): Promise<ReadCounter> {
  const document = firestore.collection(target.collection).doc(id);
  // Read first, so that the sum includes everything that the published total does.
  const snapshot = await document.get();
  meter.reads++;
  const published = publishedOf(snapshot);
  return {
    id,
    published,
    hasSource: snapshot.get("source") !== undefined,
    ...(await readShards(document.collection(SHARDS), meter)),
    ...(published?.countedCollection ? { sum: null } : {}),
  };
}

async function readShards(shards: CollectionReference, meter: ReadMeter) {
  const listed = await shards.limit(LISTED_SHARDS + 1).get();
  meter.reads += Math.max(listed.size, 1);
  if (listed.size > LISTED_SHARDS) return await sumShards(shards, meter);
  const inIndex = listed.docs.filter((shard) =>
    ["shard", "count", "writes"].every((field) => shard.get(field) !== undefined),
  );
  return {
    sum: sumOfListed(listed).total,
    documents: listed.size,
    indexed: inIndex.length,
    shards: listed.docs.map((shard) => ({
      id: shard.id,
      fields: shard.data(),
      updatedAt: shard.updateTime.toMillis(),
    })),
  };
}

/** Without `sumShards` of the server SDK, which lists all shards if the index cannot be used. */
async function sumShards(shards: CollectionReference, meter: ReadMeter) {
  try {
    const read = await shards.firestore.runTransaction(
      async (transaction) => await Promise.all([transaction.get(indexedSums(shards)), transaction.get(shards.count())]),
      { readOnly: true },
    );
    const [indexed, counted] = read;
    meter.reads += perThousand(indexed.data().documents) + perThousand(counted.data().count);
    return {
      sum: indexed.data().total,
      documents: counted.data().count,
      indexed: indexed.data().documents,
      shards: null,
    };
  } catch (error) {
    // The index is missing, which is told of the index.
    if (codeOf(error) !== FAILED_PRECONDITION) throw error;
    const documents = (await shards.count().get()).data().count;
    meter.reads += perThousand(documents);
    return { sum: null, documents, indexed: documents, shards: null };
  }
}

function isComparable({ hasSource, published, documents, sum }: ReadCounter): boolean {
  const isSmall = documents <= COMPARED_SHARDS && Math.abs(Number(published?.total ?? 0)) <= COMPARED_TOTAL;
  return hasSource && sum !== null && isSmall;
}

/** How long increments that are not in their document's commit may take to follow it. */
const SETTLED_MS = 1_000;

/** Compares a counter with its source, and if it has drifted, once more: increments may be under way. */
async function compare(context: CommandContext, id: string, meter: ReadMeter): Promise<Drift> {
  const ref = context.ref(id);
  const document = context.firestore.doc(ref.path);
  try {
    const { schedule } = parseSource((await document.get()).get("source"));
    const once = async () => {
      const { drift, expected } = await reconcileCounter(ref, { dryRun: true });
      const shards = (await document.collection(SHARDS).count().get()).data().count;
      meter.reads += 2 + shards + perThousand(Math.abs(expected));
      return drift;
    };
    meter.reads++;
    let drift = await once();
    if (drift !== 0) {
      await sleep(SETTLED_MS);
      drift = await once();
    }
    return { drift, alarmBeyond: schedule.alarmBeyond };
  } catch (error) {
    return { error: toCommandError(error).message };
  }
}

function publishedOf(snapshot: DocumentSnapshot): SampledCounter["published"] {
  const asOf = millis(snapshot.get("asOf"));
  if (asOf === undefined) return null;
  const counted = snapshot.get("countedCollection");
  const malformed = snapshot.get("malformedShards");
  return {
    total: snapshot.get("total"),
    asOf,
    nextPollAt: millis(snapshot.get("nextPollAt")) ?? null,
    countedCollection: typeof counted === "string" ? counted : null,
    malformedShards: Array.isArray(malformed) ? malformed.map(String) : [],
  };
}

function millis(value: unknown): number | undefined {
  return value instanceof Timestamp ? value.toMillis() : undefined;
}

/** What an aggregation costs (https://firebase.google.com/docs/firestore/pricing#aggregation_queries). */
export function perThousand(documents: number): number {
  return Math.max(Math.ceil(documents / 1_000), 1);
}

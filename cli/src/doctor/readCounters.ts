/**
 * Reads a bounded sample of the counters: the document, the shards if they are few, else their sum, and for some of those
 * with a source the drift. It writes nothing.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { CollectionReference, DocumentSnapshot } from "firebase-admin/firestore";
import { reconcileCounter } from "../../../admin/src/index.ts";
import {
  codeOf,
  directCountOf,
  FAILED_PRECONDITION,
  ITEM_COUNTS,
  parseNumShards,
  parseSource,
  SHARDS,
  sumOrZero,
  VISITORS,
} from "../../../core/src/index.ts";
import { indexedSums, LEGACY_SHARDS, sumOfListed } from "../../../firestore/src/index.ts";
import type { CommandContext } from "../commandContext.ts";
import { toCommandError } from "../commandError.ts";
import type { CounterSample, Drift, SampledCounter, Waiting } from "./counterFacts.ts";
import { perThousand, type ReadMeter } from "./readMeter.ts";
import { latePolls, millis, overdueReconciles, sampleIds } from "./sampleCounters.ts";

/** Shards listed one by one. Of more, only the sums are read. */
const LISTED_SHARDS = 25;

/** Counters compared with their source. Each costs 1 read per shard and 1 per 1,000 documents of the source. */
const COMPARED = 5;
const COMPARED_SHARDS = 1_000;
const COMPARED_TOTAL = 1_000_000;

/** Counters read at the same time. */
const CONCURRENCY = 20;

/** Cost: up to 3 reads per counter, its shards up to 26, and of more than 25 also 2 reads per 1,000; and that of the comparisons. */
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
    waiting: [
      ...(await someWaiting(context, meter, "legacy-shards")),
      ...(await someWaiting(context, meter, "visitors")),
      ...(await someWaiting(context, meter, "items")),
    ],
    now,
  };
}

/** Documents looked at in each of these collection groups. */
const WAITING_SAMPLE = 10;
const WAITING_IN = { visitors: VISITORS, items: ITEM_COUNTS, "legacy-shards": LEGACY_SHARDS } as const;

/** Cost: 1 read per document, 1 to 10. */
async function someWaiting({ firestore, target }: CommandContext, meter: ReadMeter, kind: Waiting["kind"]) {
  const { docs } = await firestore.collectionGroup(WAITING_IN[kind]).select().limit(WAITING_SAMPLE).get();
  meter.reads += Math.max(docs.length, 1);
  return docs.flatMap(({ ref, createTime, updateTime }): Waiting[] => {
    const { id = "", path = "", parent } = ref.parent.parent ?? {};
    const isLegacy = kind === "legacy-shards";
    if (!isLegacy && parent?.path !== target.collection) return [];
    const [createdAt, updatedAt] = [createTime.toMillis(), updateTime.toMillis()];
    return [{ kind, owner: isLegacy ? path : id, createdAt, updatedAt }];
  });
}

type ReadCounter = Omit<SampledCounter, "drift">;

async function readOne({ firestore, target }: CommandContext, id: string, meter: ReadMeter): Promise<ReadCounter> {
  const document = firestore.collection(target.collection).doc(id);
  // Read first, so that the sum includes everything that the published total does.
  const snapshot = await document.get();
  meter.reads++;
  const published = publishedOf(snapshot);
  const { sum, ...shards } = await readShards(document.collection(SHARDS), meter);
  return {
    id,
    published,
    numShards: parseNumShards(snapshot.get("num_shards")) ?? null,
    hasSource: snapshot.get("source") !== undefined,
    mirrored: snapshot.get("mirrored") ?? null,
    ...shards,
    sum: sum === null || published?.countedCollection ? null : sum + directCountOf(snapshot),
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
      sum: sumOrZero(indexed.data().total),
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

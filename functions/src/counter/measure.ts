/**
 * Measures a counter at one instant: the sum of its shards, or the size of the collection that it counts. A few shards are
 * listed, which shows when each was written. More are summed by aggregation queries (`admin/src/sum.ts`).
 */
import type { CollectionReference } from "firebase-admin/firestore";
import { logger } from "firebase-functions";
import { sumOfListed, sumShards } from "../../../admin/src/internal.ts";
import { countedCollectionOf, SHARDS } from "../../../core/src/index.ts";
import type { Backend } from "./backend.ts";
import { logError } from "./log.ts";
import type { Measurement } from "./measurement.ts";
import { MAX_LISTED_SHARDS, MAX_LISTED_STOCK_SHARDS } from "./shards.ts";
import type { CounterState } from "./types.ts";

/**
 * Cost: of up to 3 shards, and of up to 200 of a bounded counter, 1 read each; of more, 2 reads per 1,000, and without the index
 * 1 more per shard. For a counted collection, 1 read per 1,000 documents.
 *
 * @returns a sum that is infinite or NaN as the last published total, because 0 or the sum of some shards would be wrong
 */
export async function measureCounter(backend: Backend, state: CounterState): Promise<Measurement> {
  const { ref, published, bounded } = state;
  const documents = published?.shardDocuments ?? 0;
  const counted = await measureCollection(backend, ref.id);
  if (counted) return counted;
  const mostListed = bounded ? MAX_LISTED_STOCK_SHARDS : MAX_LISTED_SHARDS;
  const measured = await measureShards(ref.collection(SHARDS), documents, mostListed);
  if (!measured.overflows) return measured;
  logOverflowOnce(ref.id, measured.malformed);
  return { ...measured, total: published?.total ?? 0 };
}

/**
 * @param documents  how many shards the last measurement found
 * @param mostListed  up to how many are listed
 */
export async function measureShards(
  shards: CollectionReference,
  documents: number,
  mostListed = MAX_LISTED_SHARDS,
): Promise<Measurement> {
  const listIfFew = async () => {
    const query = shards.select("count", "writes").limit(mostListed + 1);
    const listed = sumOfListed(await query.get());
    return listed.documents <= mostListed ? listed : undefined;
  };
  const few = documents <= mostListed ? await listIfFew() : undefined;
  if (few) return few;
  const { withoutIndex, ...sum } = await sumShards(shards);
  if (withoutIndex) warnOnce(WARNINGS[withoutIndex]);
  // A list tells whether any of them is silent.
  return (sum.documents <= mostListed && (await listIfFew())) || sum;
}

/** Documents counted for the price of one read (https://firebase.google.com/docs/firestore/pricing#aggregation_queries). */
const COUNTED_PER_READ = 1_000;

/** Cost: 1 read per 1,000 documents, at least 1. @returns `undefined` for a counter that sums its shards */
async function measureCollection(
  { firestore, config }: Pick<Backend, "firestore" | "config">,
  counterId: string,
): Promise<Measurement | undefined> {
  const path = countedCollectionOf(counterId, config.counted);
  if (path === undefined) return undefined;
  const counted = await firestore.collection(path).count().get();
  const total = counted.data().count;
  const reads = Math.max(Math.ceil(total / COUNTED_PER_READ), 1);
  return { total, writes: 0, asOf: counted.readTime, documents: 0, counted: { path, reads } };
}

const overflowing = new Set<string>();

/** Logs once per instance and counter. */
function logOverflowOnce(counter: string, shards: readonly string[] = []): void {
  if (!overflowing.has(counter))
    logError("the sum of a counter is infinite, so its last total stays", { counter, shards });
  overflowing.add(counter);
}

const WARNINGS = {
  missing: "the index of shards is missing, so each measurement reads every shard: deploy firestore.indexes.json",
  incomplete:
    "some shards are not in the index, so each measurement reads every shard: give them the fields of docs/data-model.md",
} as const;

const warned = new Set<string>();

/** Logs a warning once per instance. A busy counter would repeat it every second. */
function warnOnce(message: string): void {
  if (!warned.has(message)) logger.warn(message);
  warned.add(message);
}

/**
 * Measures a counter at one instant: the sum of its shards, or the size of the collection that it counts. A few shards are
 * listed, which tells when each was written; more are summed by the index (`admin/src/sum.ts`).
 */
import type { CollectionReference } from "firebase-admin/firestore";
import { logger } from "firebase-functions";
import { type ListedShard, type ShardSum, sumOfListed, sumShards } from "../../admin/src/sum.ts";
import { countedCollectionOf, SHARDS } from "../../core/src/index.ts";
import type { Backend } from "./backend.ts";
import type { Millis } from "./config.ts";
import { type CounterState, toMillis } from "./counterDocument.ts";
import { FEW } from "./shards.ts";

export interface Measurement extends Omit<ShardSum, "withoutIndex"> {
  /** The shards one by one, if there are only a few. */
  readonly shards?: readonly ListedShard[];
  /** The collection that is counted instead of shards, and what that cost in reads. `total` is its size. */
  readonly counted?: { readonly path: string; readonly reads: number };
}

/** Cost: 2 reads, or as many as there are documents if they are few; of a counted collection, 1 per 1,000 documents. */
export async function measureCounter(backend: Backend, { ref, published }: CounterState): Promise<Measurement> {
  return (
    (await measureCollection(backend, ref.id)) ??
    (await measureShards(ref.collection(SHARDS), published?.shardDocuments ?? 0))
  );
}

/** @param documents  how many shards there were when the counter was measured last */
export async function measureShards(shards: CollectionReference, documents: number): Promise<Measurement> {
  const list = async () => {
    const some = shards.select("count", "writes").limit(FEW + 1);
    const listed = sumOfListed(await some.get());
    return listed.documents <= FEW ? listed : undefined;
  };
  const few = documents <= FEW ? await list() : undefined;
  if (few) return few;
  const { withoutIndex, ...sum } = await sumShards(shards);
  if (withoutIndex) warnOnce(WARNINGS[withoutIndex]);
  // Listing tells whether any is silent.
  return (sum.documents <= FEW && (await list())) || sum;
}

/** Documents counted for the price of one read (https://firebase.google.com/docs/firestore/pricing#aggregation_queries). */
const COUNTED_PER_READ = 1_000;

/**
 * Counts the documents of the collection that a counter counts. Cost: 1 read per 1,000 documents, at least 1.
 *
 * @returns `undefined` for a counter that sums its shards
 */
export async function measureCollection(
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

/** Whether this measurement is certain to include the write that left `shardId` as it was at `committedAt`. */
export function includes({ shards = [] }: Measurement, shardId: string | undefined, committedAt: Millis): boolean {
  const shard = shards.find(({ id }) => id === shardId);
  return shard !== undefined && toMillis(shard.updatedAt) >= committedAt;
}

const WARNINGS = {
  missing: "the index of `shards` is missing, so each measurement reads every shard: deploy firestore.indexes.json",
  incomplete:
    "some shards are not in the index, so each measurement reads every shard: give them the fields of docs/data-model.md",
} as const;

const warned = new Set<string>();

/** One line for each instance: what it says holds for all counters, or for one that is measured every second. */
function warnOnce(message: string): void {
  if (!warned.has(message)) logger.warn(message);
  warned.add(message);
}

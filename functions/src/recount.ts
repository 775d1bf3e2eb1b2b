/**
 * Measures a counter that counts a collection: how many documents there are, whatever its shards hold.
 *
 * One read-only transaction counts the collection and lists the shards at one instant; it takes no lock. Everyone else
 * takes a total for the sum of the shards, so the difference goes into `base`, in the commit that publishes the total.
 */
import type { DocumentReference, Timestamp } from "firebase-admin/firestore";
import { BASE_SHARD, isCount, SHARDS } from "../../core/src/index.ts";
import type { Backend } from "./backend.ts";
import { collectionOf } from "./counted.ts";
import { type Measurement, measure, summarize } from "./measure.ts";

/** What a measurement of a collection has beyond one of shards. */
export interface Recount {
  /** What counting costs: 1 read per 1,000 documents. */
  readonly reads: number;
  /** What `base` must become so that the shards sum to the total; absent if they do. */
  readonly correction?: Correction;
}

export interface Correction {
  /** The new `count` of `base`. Absolute, because it is written over the very `base` that was measured. */
  readonly count: number;
  /** The writes of all other shards: with those of `base`, they are to sum to the counter's `writes`. */
  readonly otherWrites: number;
  /** The update time of that `base`; `undefined` if there was none. */
  readonly over: Timestamp | undefined;
}

/** Documents counted for the price of one read (https://firebase.google.com/docs/firestore/pricing#aggregation_queries). */
const COUNTED_PER_READ = 1_000;

/**
 * Measures a counter of either kind. Cost: 1 read per shard, at least 1; where a collection is counted, also 1 per 1,000
 * documents, at least 1.
 */
export async function measureCounter(
  { firestore, config }: Pick<Backend, "firestore" | "config">,
  counter: DocumentReference,
): Promise<Measurement> {
  const shards = counter.collection(SHARDS);
  const path = collectionOf(counter.id, config.counted);
  if (path === undefined) return await measure(shards);

  const [listed, counted] = await firestore.runTransaction(
    async (transaction) => [
      await transaction.get(shards.select("count", "writes")),
      await transaction.get(firestore.collection(path).count()),
    ],
    { readOnly: true },
  );
  const total = counted.data().count;
  const summed = summarize(listed);
  const reads = Math.ceil(total / COUNTED_PER_READ);
  if (summed.total === total) return { ...summed, recount: { reads } };
  const base = listed.docs.find(({ id }) => id === BASE_SHARD);
  const held: unknown = base?.get("count");
  const count = (isCount(held) ? (held ?? 0) : 0) + total - summed.total;
  const otherWrites = summed.writes - (summed.shards.find(({ id }) => id === BASE_SHARD)?.writes ?? 0);
  return { ...summed, total, recount: { reads, correction: { count, otherWrites, over: base?.updateTime } } };
}

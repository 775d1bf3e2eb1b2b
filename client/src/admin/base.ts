/**
 * How a server changes what a counter amounts to: by a number that it adds to `shards/base`, on the condition that `base`
 * is as it was when the shards were listed.
 *
 * Clients never write `base`, so none waits and none is refused. Whoever else moves it, a fold, a reset or a correction,
 * makes the commit fail, and the caller looks again. So does a repetition of the very same commit: it cannot add twice.
 */
import { FieldValue, type QuerySnapshot, type WriteBatch } from "firebase-admin/firestore";
import { BASE_SHARD, isCount, sumOfCounts } from "../../../core/src/index.ts";
import { type CounterRef, shardDoc } from "./counter.ts";

/** The sum of listed shards. */
export function sumOf(shards: QuerySnapshot): number {
  return sumOfCounts(shards.docs.map((shard) => shard.get("count")));
}

/** How large the numbers are that sum up to it. */
export function magnitudeOf(shards: QuerySnapshot): number {
  return sumOfCounts(shards.docs.map((shard) => Math.abs(shard.get("count"))));
}

/**
 * Adds `by` to `base`, if it is as it was listed among `shards`. Cost: 1 write of the batch.
 */
export function moveBase(batch: WriteBatch, ref: CounterRef, shards: QuerySnapshot, by: number): void {
  const base = shardDoc(ref, BASE_SHARD);
  const before = shards.docs.find(({ id }) => id === BASE_SHARD);
  // What cannot be summed was left out of the sum, and is replaced.
  const count = before && !isCount(before.get("count")) ? by : FieldValue.increment(by);
  const correction = { count, at: FieldValue.serverTimestamp() };
  if (before) batch.update(base, correction, { lastUpdateTime: before.updateTime });
  else batch.create(base, { writes: 0, ...correction });
}

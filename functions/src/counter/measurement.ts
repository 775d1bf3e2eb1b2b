/** What a measurement has found, and what follows from it. `measure.ts` makes measurements. */
import type { ListedShard, ShardSum } from "../../../admin/src/internal.ts";
import { shardIndex, TRIGGER_SHARDS } from "./shards.ts";
import { type Millis, toMillis } from "./time.ts";

/** The sum of a counter's shards at one instant, or the size of the collection that it counts. */
export interface Measurement extends Omit<ShardSum, "withoutIndex"> {
  /** The shards one by one, if there are few: up to 3, or 200 of a bounded counter. */
  readonly shards?: readonly ListedShard[];
  /** The collection that is counted instead of shards, and the cost of counting it in reads. `total` is its size. */
  readonly counted?: { readonly path: string; readonly reads: number };
}

/** Whether the measurement is certain to include the write that left `shardId` as it was at `committedAt`. */
export function includesWrite({ shards = [] }: Measurement, shardId: string | undefined, committedAt: Millis): boolean {
  const shard = shards.find(({ id }) => id === shardId);
  return shard !== undefined && toMillis(shard.updatedAt) >= committedAt;
}

/** Whether there are silent shards. Their writes trigger no function, so the counter is polled. */
export function hasSilentShards({ shards, malformed = [], counted }: Measurement): boolean {
  // Unlisted shards are more than there are trigger shards.
  if (!shards) return counted === undefined;
  return [...shards.map(({ id }) => id), ...malformed].some((id) => !TRIGGER_SHARDS.includes(id));
}

/**
 * How many client shards exist beyond the shard count that writers were told. A lower bound if the shards were not listed,
 * since one of them may be `base`, and some below the count may not exist.
 */
export function shardsBeyond({ shards, documents }: Measurement, shardCount: number): number {
  if (!shards) return Math.max(documents - 1 - shardCount, 0);
  return shards.filter(({ id }) => (shardIndex(id) ?? 0) >= shardCount).length;
}

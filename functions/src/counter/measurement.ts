/** What a measurement has found, and what follows from it. `measure.ts` makes measurements. */
import type { ListedShard, ShardSum } from "../../../firestore/src/index.ts";
import { shardIndex, TRIGGER_SHARDS } from "./shards.ts";
import { type Millis, toMillis } from "./time.ts";

/** The sum of a counter's shards at one instant, or what a feature has counted instead. */
export interface Measurement extends Omit<ShardSum, "withoutIndex"> {
  /** When a sum was given up as too slow, if the shards were listed instead. */
  readonly slowSince?: Millis;
  /** The shards one by one, if there are few. */
  readonly shards?: readonly ListedShard[];
  /** `total` is their number. Absent if the shards were summed. */
  readonly collectionCount?: CollectionCount;
  /** The part of `total` that is no increment since the last publish, beside `adjusted`. */
  readonly imported?: number;
}

/** Documents that are counted instead of summing shards. */
export interface CollectionCount {
  /** The path of their collection. */
  readonly path: string;
  /** The cost of counting them. */
  readonly reads: number;
}

/** Whether the measurement is certain to include the write that left `shardId` as it was at `committedAt`. */
export function includesWrite({ shards = [] }: Measurement, shardId: string | undefined, committedAt: Millis): boolean {
  const shard = shards.find(({ id }) => id === shardId);
  return shard !== undefined && toMillis(shard.updatedAt) >= committedAt;
}

/**
 * Whether there are silent shards. Their writes trigger no function, so the counter is polled.
 *
 * @param triggerShards  updates of the shards below this index trigger. From 2 on all updates do, so a wrong answer loses no write
 */
export function hasSilentShards(measurement: Measurement, triggerShards = 1): boolean {
  const { shards, malformed = [], collectionCount, documents } = measurement;
  // Unlisted shards are more than there are trigger shards, unless a feature has a trigger for more.
  if (!shards) return collectionCount === undefined && (triggerShards === 1 || documents > triggerShards + 1);
  const isTrigger = (id: string) => TRIGGER_SHARDS.includes(id) || (shardIndex(id) ?? triggerShards) < triggerShards;
  return ![...shards.map(({ id }) => id), ...malformed].every(isTrigger);
}

/**
 * How many client shards exist beyond the shard count that writers were told. A lower bound if the shards were not listed,
 * since one of them may be `base`, and some below the count may not exist.
 */
export function shardsBeyond({ shards, documents }: Measurement, shardCount: number): number {
  if (!shards) return Math.max(documents - 1 - shardCount, 0);
  return shards.filter(({ id }) => (shardIndex(id) ?? 0) >= shardCount).length;
}

/** Which shards there are: those of clients, the backend's own, and which of them wake the functions. */
import { BASE_SHARD } from "../../core/src/index.ts";
import type { Measurement } from "./measure.ts";

/** The shards whose every write wakes their counter. A client that knows of no others writes to the first of them. */
export const TRIGGER_SHARDS: readonly string[] = ["0", BASE_SHARD];

/** So many shards are listed to be measured: that costs hardly more than two aggregations. */
export const FEW = 3;

/** The index of a client's shard; `undefined` for `base` and anything else that is not a plain decimal index. */
export function shardIndex(id: string): number | undefined {
  return /^(0|[1-9]\d{0,3})$/.test(id) ? Number(id) : undefined;
}

/** Whether there are silent shards: their writes wake nothing once they exist, so the counter is polled. */
export function hasSilentShards({ shards, malformed = [], counted }: Measurement): boolean {
  // Shards that were not listed are more than a few.
  if (!shards) return counted === undefined;
  return [...shards.map(({ id }) => id), ...malformed].some((id) => !TRIGGER_SHARDS.includes(id));
}

/**
 * How many client shards there are beyond a shard count that writers were told of. Of shards that were not listed it is
 * a lower bound: whether one of them is `base` is not known.
 */
export function shardsBeyond({ shards, documents }: Measurement, shardCount: number): number {
  if (!shards) return Math.max(documents - 1 - shardCount, 0);
  return shards.filter(({ id }) => (shardIndex(id) ?? 0) >= shardCount).length;
}

/** Which shards there are: those of clients, the backend's own, and which of them trigger the functions. */

import { BASE_SHARD } from "../../../core/src/index.ts";
import type { ListedShard } from "../../../firestore/src/index.ts";
import { type Millis, toMillis } from "./time.ts";

/**
 * The shards whose every write triggers the functions. The others are silent: only their creation triggers, unless a feature has a
 * trigger for more. A client that knows of no other shard writes to the first.
 */
export const TRIGGER_SHARDS: readonly string[] = ["0", BASE_SHARD];

/** The most shards that a measurement lists. Listing them costs hardly more than the two aggregations. */
export const MAX_LISTED_SHARDS = 3;

/** Documents per page and batch of a fold. A shard that is written meanwhile fails one batch, not the fold. */
export const FOLD_PAGE_SIZE = 200;

/** The index of a client's shard; `undefined` for `base` and every other id that is not a plain decimal index. */
export function shardIndex(id: string): number | undefined {
  return /^(0|[1-9]\d{0,3})$/.test(id) ? Number(id) : undefined;
}

/**
 * The client shards from `fromIndex` on that were not written after `quietSince`. With `onlyEmpty`, only those whose count is 0
 * or less.
 */
export function foldableShards(
  shards: readonly ListedShard[],
  fromIndex: number,
  quietSince: Millis,
  onlyEmpty = false,
): readonly ListedShard[] {
  return shards.filter(({ id, count, updatedAt }) => {
    const isUnused = (shardIndex(id) ?? -1) >= fromIndex && toMillis(updatedAt) <= quietSince;
    return isUnused && !(onlyEmpty && count > 0);
  });
}

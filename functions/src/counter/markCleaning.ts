/** Which shards the functions clean after a publish, and which of their marks they remove, by the edition of the database. */
import type { Timestamp } from "firebase-admin/firestore";
import {
  MARK_LIFETIME_SECONDS,
  MARK_SLOTS,
  type ShardDocument,
  WRITES_PER_MARK_CLEANING,
} from "../../../core/src/index.ts";
import { type Millis, toMillis } from "./time.ts";
import type { Edition } from "./types.ts";

/** Writes of a counter for each shard that is read, the most shards after one publish, and how many expired marks may stay, because a removal costs a write. */
export interface Cleaning {
  readonly writesPerShardCleaned: number;
  readonly mostShards: number;
  readonly fewMarks: number;
}

export const CLEANING = {
  standard: { writesPerShardCleaned: WRITES_PER_MARK_CLEANING, mostShards: 20, fewMarks: 100 },
  enterprise: { writesPerShardCleaned: 16, mostShards: 500, fewMarks: 8 },
} as const satisfies Record<Edition, Cleaning>;

/**
 * The ids of the shards to read after a publish.
 *
 * @param before      `writes` of the publish before
 * @param after       `writes` of this publish
 * @param shardCount  writers choose among so many
 * @param random      uniform in [0, 1)
 */
export function shardsToClean(
  { writesPerShardCleaned, mostShards }: Cleaning,
  before: number,
  after: number,
  shardCount: number,
  random: () => number,
): string[] {
  const cleanedUntil = (writes: number) => Math.floor(writes / writesPerShardCleaned);
  const shards = Math.min(cleanedUntil(after) - cleanedUntil(before), mostShards);
  return [...new Set(Array.from({ length: shards }, () => `${Math.floor(random() * shardCount)}`))];
}

/** The slots whose marks can be removed at a time; none if they have few marks in all. */
export function expiredSlots(
  marks: Partial<ShardDocument<Timestamp>["marks"]> | undefined,
  now: Millis,
  { fewMarks }: Cleaning,
): string[] {
  const names = Array.from({ length: MARK_SLOTS }, (_, n) => `${n}`);
  const expired = names.filter((name) => {
    const at = marks?.[name]?.at;
    return at && toMillis(at) + MARK_LIFETIME_SECONDS * 1_000 < now;
  });
  const sizes = expired.map((name) => marks?.[name]?.nonces?.length ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0) > fewMarks ? expired : [];
}

/** Which shards the functions look at after a publish, and which of their marks they remove, by the edition of the database. */
import type { Timestamp } from "firebase-admin/firestore";
import {
  MARK_LIFETIME_SECONDS,
  MARK_WINDOWS,
  type ShardDocument,
  WRITES_PER_MARK_LOOK,
} from "../../../core/src/index.ts";
import { type Millis, toMillis } from "./time.ts";
import type { Edition } from "./types.ts";

/** How often the functions look, how many looks follow one publish, and how many expired marks may stay, because a removal costs a write. */
export interface Looks {
  readonly writesPerLook: number;
  readonly mostLooks: number;
  readonly fewMarks: number;
}

export const LOOKS = {
  standard: { writesPerLook: WRITES_PER_MARK_LOOK, mostLooks: 20, fewMarks: 100 },
  enterprise: { writesPerLook: 16, mostLooks: 500, fewMarks: 8 },
} as const satisfies Record<Edition, Looks>;

/**
 * The ids of the shards to look at after a publish.
 *
 * @param before      `writes` of the publish before
 * @param after       `writes` of this publish
 * @param shardCount  writers choose among so many
 * @param random      uniform in [0, 1)
 */
export function shardsToLookAt(
  { writesPerLook, mostLooks }: Looks,
  before: number,
  after: number,
  shardCount: number,
  random: () => number,
): string[] {
  const looksUntil = (writes: number) => Math.floor(writes / writesPerLook);
  const looks = Math.min(looksUntil(after) - looksUntil(before), mostLooks);
  return [...new Set(Array.from({ length: looks }, () => `${Math.floor(random() * shardCount)}`))];
}

/** The windows whose marks can be removed at a time; none if they have few marks in all. */
export function expiredWindows(
  marks: Partial<ShardDocument<Timestamp>["marks"]> | undefined,
  now: Millis,
  { fewMarks }: Looks,
): string[] {
  const names = Array.from({ length: MARK_WINDOWS }, (_, n) => `${n}`);
  const expired = names.filter((name) => {
    const at = marks?.[name]?.at;
    return at && toMillis(at) + MARK_LIFETIME_SECONDS * 1_000 < now;
  });
  const sizes = expired.map((name) => marks?.[name]?.nonces?.length ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0) > fewMarks ? expired : [];
}

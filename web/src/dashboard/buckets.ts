/**
 * What was added in each hour or day of a period: the difference between the totals at its two ends. Nothing was published in a
 * bucket without a point, so it added 0. What was before the first point is not known, and is `null`.
 *
 * The first point may tell its day's sum. Then the total at the beginning of that day is known, too. The bucket of the first point
 * holds all that was added since then.
 */
import type { CounterHistoryPoint } from "firestore-tally";
import type { Boundaries } from "./periods.ts";

/** A counter at an instant: the fields that charts use. */
export type Point = Pick<CounterHistoryPoint, "at" | "total" | "shardCount" | "windows">;

export interface KnownHistory {
  /** By time. */
  readonly points: readonly Point[];
  /** Whether the points prove it. One point alone may be the counter document's. */
  readonly hasStoredHistory: boolean;
  /** The total at the beginning of the first point's day, if its sum of the day tells it. */
  readonly dayStart: { readonly at: number; readonly total: number } | undefined;
}

/** `null` is not known, or is in the future. */
export interface Buckets {
  readonly boundaries: Boundaries;
  /** The bucket that now is in. */
  readonly current: number;
  readonly added: readonly (number | null)[];
  /** At each boundary. At the end of the current bucket it is the latest one. */
  readonly totals: readonly (number | null)[];
  /** The latest one in each bucket. */
  readonly shardCounts: readonly (number | null)[];
}

/**
 * @param stored      the points that were read
 * @param latest      a point that was received after them
 * @param dayStartOf  when the day of an instant began, if that day is the one whose sums the counter has
 */
export function knownHistory(
  stored: readonly Point[],
  latest: Point | undefined,
  dayStartOf: (at: number) => number | undefined,
): KnownHistory {
  const isNew = latest && latest.at > (stored.at(-1)?.at ?? 0);
  const points = isNew ? [...stored, latest] : stored;
  const [first] = points;
  const at = first && dayStartOf(+first.at);
  return {
    hasStoredHistory: stored.length > 1,
    points,
    dayStart: at === undefined || !first ? undefined : { at, total: first.total - first.windows.day },
  };
}

export function bucketsOf({ points, dayStart }: KnownHistory, boundaries: Boundaries, now: number): Buckets {
  const current = boundaries.findLastIndex((from) => from <= now);
  const before = boundaries.map((end, i) => (i > current + 1 ? undefined : points.findLast(({ at }) => +at < end)));
  const totals = before.map(
    (point, i) => point?.total ?? (dayStart?.at === boundaries[i] ? dayStart?.total : null) ?? null,
  );
  const added = boundaries.slice(1).map((_, i) => {
    const end = totals[i + 1] ?? null;
    const from = totals.slice(0, i + 1).findLast((total) => total !== null) ?? null;
    return end === null || from === null ? null : end - from;
  });
  const shardCounts = before.slice(1).map((point) => point?.shardCount ?? null);
  return { boundaries, current, added, totals, shardCounts };
}

/** What was added from the beginning of the period up to a boundary. */
export function addedUntil({ totals }: Buckets, boundary: number): number | null {
  const [from, to] = [totals[0] ?? null, totals[boundary] ?? null];
  return from === null || to === null ? null : to - from;
}

/** The bucket of the first point, if it is in the period. */
export function bucketOfFirstPoint(
  { points: [first] }: KnownHistory,
  { boundaries, current }: Buckets,
): number | undefined {
  if (!first) return undefined;
  const bucket = boundaries.findLastIndex((from) => from <= +first.at);
  return bucket >= 0 && bucket <= current ? bucket : undefined;
}

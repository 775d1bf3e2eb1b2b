/**
 * What was added in each hour or day of a period: the difference between the totals at its two ends. Nothing was published in a
 * bucket without a state, so it added 0. What was before the first known state is not known, and is `null`.
 *
 * The first known state may tell its day's sum. Then the total at the beginning of that day is known, too. The bucket of the first state
 * holds all that was added since then.
 */
import type { CounterHistoryPoint } from "firestore-tally";
import type { Boundaries } from "./periods.ts";

/** What is used of a point. */
export type Point = Pick<CounterHistoryPoint, "at" | "total" | "shardCount" | "windows">;

/** A counter at an instant, in milliseconds since the epoch. */
interface State {
  readonly at: number;
  readonly total: number;
  readonly shardCount: number;
}

export interface KnownHistory {
  /** By time. */
  readonly states: readonly State[];
  /** One point alone may be the counter document's own state, so it does not prove that a history is kept. */
  readonly isProven: boolean;
  /** The total at the beginning of the first state's day, if its sum of the day tells it. */
  readonly start: { readonly at: number; readonly total: number } | undefined;
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
 * @param history   the stored points
 * @param latest    a state that was received after the history was read
 * @param dayStart  when the day of an instant began, if that day is the one whose sums the counter has
 */
export function knownHistory(
  history: readonly Point[],
  latest: Point | undefined,
  dayStart: (at: number) => number | undefined,
): KnownHistory {
  const isNew = latest && latest.at > (history.at(-1)?.at ?? 0);
  const points = isNew ? [...history, latest] : history;
  const [first] = points;
  const start = first && dayStart(first.at.getTime());
  return {
    isProven: history.length > 1,
    states: points.map(({ at, total, shardCount }) => ({ at: at.getTime(), total, shardCount })),
    start: start === undefined || !first ? undefined : { at: start, total: first.total - first.windows.day },
  };
}

export function bucketsOf({ states, start }: KnownHistory, boundaries: Boundaries, now: number): Buckets {
  const current = boundaries.findLastIndex((from) => from <= now);
  const before = boundaries.map((end, i) => (i > current + 1 ? undefined : states.findLast(({ at }) => at < end)));
  const totals = before.map((state, i) => state?.total ?? (start?.at === boundaries[i] ? start?.total : null) ?? null);
  const added = boundaries.slice(1).map((_, i) => {
    const end = totals[i + 1] ?? null;
    const from = totals.slice(0, i + 1).findLast((total) => total !== null) ?? null;
    return end === null || from === null ? null : end - from;
  });
  const shardCounts = before.slice(1).map((state) => state?.shardCount ?? null);
  return { boundaries, current, added, totals, shardCounts };
}

/** What was added from the beginning of the period up to a boundary. */
export function addedUntil({ totals }: Buckets, boundary: number): number | null {
  const [from, to] = [totals[0] ?? null, totals[boundary] ?? null];
  return from === null || to === null ? null : to - from;
}

/** The bucket of the first known state, if it is in the period. */
export function firstKnown({ states: [first] }: KnownHistory, { boundaries, current }: Buckets): number | undefined {
  if (!first) return undefined;
  const bucket = boundaries.findLastIndex((from) => from <= first.at);
  return bucket >= 0 && bucket <= current ? bucket : undefined;
}

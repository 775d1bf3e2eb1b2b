/** The writes per second of a counter over time, as its publishes tell them. */
import type { Published } from "./published.ts";

export interface Point {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly rate: number;
  readonly shardCount: number;
  /** Whether its next write is published at once, so that nothing was written since. Default `false`. */
  readonly isIdle?: boolean;
}

/** A counter without a publish for this long, longer than any busy counter takes by default, has no writes. */
export const INACTIVE_MS = 12_000;

export function pointOf({ asOf: at, rate, shardCount, isIdle }: Published): Point {
  return { at, rate, shardCount, isIdle };
}

/** The points, continued up to now: the last rate holds until the next publish, that of an idle counter for a moment. */
export function upToNow(points: readonly Point[], now: number): Point[] {
  const last = points.at(-1);
  if (!last || last.at >= now) return [...points];
  const end = last.at + INACTIVE_MS;
  const silent = last.isIdle && end < now ? [{ ...last, at: end, rate: 0 }] : [];
  return [...points, ...silent, { ...last, ...silent[0], at: now }];
}

/** The rate now: 0 for an idle counter that was published a while ago. */
export function rateNow(published: Published, now: number): number {
  return upToNow([pointOf(published)], now).at(-1)?.rate ?? 0;
}

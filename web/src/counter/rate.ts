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

/** The points, continued up to now. The rate of an idle counter falls to 0 until the next publish; any other rate holds. */
export function upToNow(points: readonly Point[], now: number): Point[] {
  return points.flatMap((point, i) => {
    const next = points[i + 1]?.at ?? now;
    const end = point.at + INACTIVE_MS;
    if (point.isIdle && end < next) return [point, { ...point, at: end, rate: 0 }, { ...point, at: next - 1, rate: 0 }];
    return i === points.length - 1 && point.at < now ? [point, { ...point, at: now }] : [point];
  });
}

/** The rate now: 0 for an idle counter that was published a while ago. */
export function rateNow(published: Published, now: number): number {
  return upToNow([pointOf(published)], now).at(-1)?.rate ?? 0;
}

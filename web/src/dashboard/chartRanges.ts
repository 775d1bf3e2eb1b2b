/** The time ranges of a counter's chart, and the points of its history. */
import type { CounterHistoryPoint, CounterHistoryStep } from "firestore-tally";
import type { Point } from "../counter/rate.ts";

export interface Range {
  readonly name: string;
  readonly spanMs: number;
  readonly step: CounterHistoryStep;
}

const HOUR_MS = 3_600_000;

/** In addition to the live range. */
export const RANGES: readonly Range[] = [
  { name: "An hour", spanMs: HOUR_MS, step: "minute" },
  { name: "A day", spanMs: 24 * HOUR_MS, step: "hour" },
  { name: "A month", spanMs: 30 * 24 * HOUR_MS, step: "day" },
];

/**
 * The rate between two points is the writes between them: a point's `rate` holds for its last moment only. The computed rate
 * holds for the whole time, so it starts where the point before ends. A counter that was not written since the only point is level.
 */
export function chartPoints(history: readonly CounterHistoryPoint[], now: number): Point[] {
  const [only, ...more] = history;
  if (only?.rate === 0 && more.length === 0) {
    return [only.at.getTime(), now].map((at) => ({ at, rate: 0, shardCount: only.shardCount }));
  }
  return history.flatMap((point, i) => {
    const before = history[i - 1];
    const at = point.at.getTime();
    if (!before) return [{ at, rate: point.rate, shardCount: point.shardCount }];
    const rate = ((point.writes - before.writes) * 1_000) / Math.max(at - before.at.getTime(), 1);
    return [
      { at: before.at.getTime() + 1, rate, shardCount: before.shardCount },
      { at, rate, shardCount: point.shardCount },
    ];
  });
}

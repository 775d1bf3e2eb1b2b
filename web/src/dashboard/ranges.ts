/** How far back the line of a counter goes, and what is drawn of its history. */
import type { HistoryPoint, HistoryStep } from "firestore-tally";
import type { Point } from "../counter/RateChart.tsx";

export interface Range {
  readonly name: string;
  readonly spanMs: number;
  readonly step: HistoryStep;
}

const HOUR_MS = 3_600_000;

/** Beside what the page sees itself. */
export const RANGES: readonly Range[] = [
  { name: "An hour", spanMs: HOUR_MS, step: "minute" },
  { name: "A day", spanMs: 24 * HOUR_MS, step: "hour" },
  { name: "A month", spanMs: 30 * 24 * HOUR_MS, step: "day" },
];

/**
 * The rate between each two points, from the writes between them: the rate that a point tells is of its last moment. It holds
 * for the whole time, so it begins where the point before it ends.
 */
export function pointsOf(history: readonly HistoryPoint[]): Point[] {
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

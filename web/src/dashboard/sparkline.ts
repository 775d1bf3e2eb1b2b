/** The recent rates of the listed counters, as the page has seen them. Reading their history would cost reads. */
import { type Point, upToNow } from "../counter/rate.ts";

export const SPARKLINE_MS = 60_000;

export type RecentRates = Map<string, Point[]>;

export function recordRate(rates: RecentRates, id: string, point: Point): void {
  const known = rates.get(id) ?? [];
  if (known.at(-1)?.at === point.at) return;
  rates.set(id, [...known.filter(({ at }) => at > point.at - SPARKLINE_MS), point]);
}

/** The points of a polyline in a box from 0,0 to 100,20; `""` without writes. */
export function sparklinePoints(rates: readonly Point[], now: number): string {
  // What is before the box shows where the line enters it.
  const points = upToNow(rates, now);
  const first = points.findLastIndex(({ at }) => at <= now - SPARKLINE_MS);
  const shown = points.slice(Math.max(first, 0));
  if (shown.every(({ rate }) => rate === 0)) return "";
  // A rate below 1/s stays low in the box.
  const highest = Math.max(1, ...shown.map(({ rate }) => rate));
  return shown
    .map(({ at, rate }) => {
      const x = Math.max(100 - ((now - at) / SPARKLINE_MS) * 100, 0);
      return `${x.toFixed(1)},${(19 - (rate / highest) * 18).toFixed(1)}`;
    })
    .join(" ");
}

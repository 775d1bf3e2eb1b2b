/** The recent rates of the listed counters, as the page has seen them. Reading their history would cost reads. */

export interface RatePoint {
  readonly at: number;
  readonly rate: number;
}

export const SPARKLINE_MS = 60_000;

export type RecentRates = Map<string, RatePoint[]>;

export function recordRate(rates: RecentRates, id: string, point: RatePoint): void {
  const known = rates.get(id) ?? [];
  if (known.at(-1)?.at === point.at) return;
  rates.set(id, [...known.filter(({ at }) => at > point.at - SPARKLINE_MS), point]);
}

/** The points of a polyline in a box from 0,0 to 100,20; `""` without writes. */
export function sparklinePoints(rates: readonly RatePoint[], now: number): string {
  const last = rates.at(-1);
  // A rate below 1/s stays low in the box.
  const highest = Math.max(1, ...rates.map(({ rate }) => rate));
  if (!last || rates.every(({ rate }) => rate === 0)) return "";
  const points = [...rates, { at: Math.max(now, last.at), rate: last.rate }];
  return points
    .map(({ at, rate }) => {
      const x = Math.max(100 - ((now - at) / SPARKLINE_MS) * 100, 0);
      return `${x.toFixed(1)},${(19 - (rate / highest) * 18).toFixed(1)}`;
    })
    .join(" ");
}

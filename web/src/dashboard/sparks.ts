/** What the rates of the counters on screen have been since the page was opened: reading their history would cost more. */

export interface Spark {
  readonly at: number;
  readonly rate: number;
}

export const SPARK_MS = 60_000;

export type Sparks = Map<string, Spark[]>;

export function remember(sparks: Sparks, id: string, spark: Spark): void {
  const known = sparks.get(id) ?? [];
  if (known.at(-1)?.at === spark.at) return;
  sparks.set(id, [...known.filter(({ at }) => at > spark.at - SPARK_MS), spark]);
}

/** The points of a line in a box from 0,0 to 100,20. `""` if there is nothing to draw. */
export function lineOf(sparks: readonly Spark[], now: number): string {
  const last = sparks.at(-1);
  // Less than one a second is no mountain.
  const most = Math.max(1, ...sparks.map(({ rate }) => rate));
  if (!last || sparks.every(({ rate }) => rate === 0)) return "";
  const points = [...sparks, { at: Math.max(now, last.at), rate: last.rate }];
  return points
    .map(({ at, rate }) => {
      const x = Math.max(100 - ((now - at) / SPARK_MS) * 100, 0);
      return `${x.toFixed(1)},${(19 - (rate / most) * 18).toFixed(1)}`;
    })
    .join(" ");
}

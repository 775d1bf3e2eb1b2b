/** The last two minutes of a counter, from the totals that the page receives: writes per second, and the shard count. */
import type { ComponentChildren } from "preact";
import { formatRate, formatWhole } from "../page/format.ts";
import { useNow } from "../page/useNow.ts";
import { Chart } from "./Chart.tsx";
import { type PublishLog, WINDOW_MS } from "./publishLog.ts";
import { pointOf, upToNow } from "./rate.ts";

export interface LiveChartsProps {
  readonly log: PublishLog;
  /** What the axes count. */
  readonly rateTitle?: ComponentChildren;
  readonly shardsTitle?: ComponentChildren;
}

const REDRAW_MS = 500;

const SECONDS = WINDOW_MS / 1_000;

const TICKS = [120, 90, 60, 30, 0].map((ago) => ({ x: -ago, label: ago === 0 ? "now" : `−${ago} s` }));

export function LiveCharts({ log, rateTitle = "writes per second", shardsTitle = "shards" }: LiveChartsProps) {
  const now = useNow(REDRAW_MS);
  const points = upToNow(log.recent.map(pointOf), now);
  // The last publish before the two minutes is where the line enters.
  const x = points.map(({ at }) => Math.min(Math.max((at - now) / 1_000, -SECONDS), 0));
  const axes = { x, span: [-SECONDS, 0], ticks: TICKS, minUpperEnd: 4 } as const;
  const rates = points.map(({ rate }) => rate);
  const shardCounts = points.map(({ shardCount }) => shardCount);
  return (
    <>
      <Chart
        {...axes}
        title={rateTitle}
        label={`Writes per second over two minutes: ${describe(rates, formatRate)}.`}
        series={[{ style: "area", values: rates }]}
      />
      <Chart
        {...axes}
        title={shardsTitle}
        label={`Shards over two minutes: ${describe(shardCounts, formatWhole)}.`}
        series={[{ style: "steps", values: shardCounts }]}
        isSmall
      />
    </>
  );
}

function describe(values: readonly number[], format: (value: number) => string): string {
  return values.length === 0 ? "none yet" : `${format(values.at(-1) ?? 0)} now, ${format(Math.max(...values))} at most`;
}

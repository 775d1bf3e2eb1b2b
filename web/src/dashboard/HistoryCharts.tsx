/** The charts of a counter's history: what was added in each hour or day, the total, and the shard count. */
import type { ComponentChildren } from "preact";
import { Chart, type Series, type Tick } from "../counter/Chart.tsx";
import { type Buckets, bucketsOf, type KnownHistory } from "./buckets.ts";
import { describeColumns, describeDay, describeLine, describeMonth } from "./historyText.ts";
import { DAYS, dateOf, hoursOfDay, recentDays, timeOf } from "./periods.ts";

/** `history` is `undefined` until it is read. */
export interface HistoryChartsProps {
  readonly history: KnownHistory | undefined;
  readonly now: number;
  /** What cannot be read, or that it is being read. */
  readonly notice: string | undefined;
}

const NO_HISTORY: KnownHistory = { points: [], hasStoredHistory: false, dayStart: undefined };

const HOUR_TICKS = [0, 6, 12, 18, 24];
const DAY_TICKS = [1, 8, 15, 22, 29];

export function DayCharts({ history = NO_HISTORY, now, notice }: HistoryChartsProps) {
  const today = bucketsOf(history, hoursOfDay(now), now);
  const lastWeek = bucketsOf(history, hoursOfDay(now, 7), now);
  const ticks = HOUR_TICKS.map((x) => ({ x, label: timeOf(today.boundaries[x] ?? 0, x === 24) }));
  const words = notice ?? describeDay(history, today, lastWeek);
  return (
    <Charts
      buckets={today}
      now={now}
      ticks={ticks}
      words={words}
      columnsLabel={`${describeColumns(today, timeOf, "Added per hour today")} ${words}`}
      compared={lastWeek}
      columnsTitle="added per hour"
      legend={
        <>
          <span class="key columns">today</span>
          <span class="key">same day last week</span>
        </>
      }
    />
  );
}

export function MonthCharts({ history = NO_HISTORY, now, notice }: HistoryChartsProps) {
  const days = bucketsOf(history, recentDays(now), now);
  const ticks = DAY_TICKS.map((day) => ({ x: day + 0.5, label: dateOf(days.boundaries[day] ?? 0) }));
  const words = notice ?? describeMonth(history, days);
  return (
    <Charts
      buckets={days}
      now={now}
      ticks={ticks}
      words={words}
      columnsLabel={`${describeColumns(days, dateOf, `Added per day in ${DAYS} days`)} ${words}`}
      columnsTitle="added per day"
    />
  );
}

interface ChartsProps {
  readonly buckets: Buckets;
  readonly compared?: Buckets;
  readonly now: number;
  readonly ticks: readonly Tick[];
  readonly words: string;
  readonly columnsTitle: string;
  readonly legend?: ComponentChildren;
  readonly columnsLabel: string;
}

/** One unit of the time axis is one bucket. */
function Charts({ buckets, compared, now, ticks, words, columnsTitle, legend, columnsLabel }: ChartsProps) {
  const { boundaries, current, added, totals, shardCounts } = buckets;
  const span = [0, added.length] as const;
  // The edges and the middles of the buckets: outlines begin at an edge, columns stand in the middle.
  const x = Array.from({ length: 2 * added.length + 1 }, (_, i) => i / 2);
  const columns: Series = { style: "columns", values: x.map((at) => (at % 1 ? added[at - 0.5] : undefined)) };
  const outline = compared && outlineOf(x, compared);
  const [from = 0, to = 0] = boundaries.slice(current, current + 2);
  const untilNow = [...boundaries.slice(0, current + 1).keys(), current + (now - from) / (to - from)];
  const line = { span, ticks, x: untilNow };
  return (
    <>
      <p class="sums" id="history" role="status">
        {words}
      </p>
      <Chart
        title={columnsTitle}
        legend={legend}
        label={columnsLabel}
        span={span}
        ticks={ticks}
        x={x}
        series={outline ? [columns, outline] : [columns]}
      />
      <Chart
        {...line}
        title="total"
        label={describeLine("Total", totals)}
        series={[{ style: "line", values: totals.slice(0, current + 2) }]}
        fromZero={false}
        isSmall
      />
      <Chart
        {...line}
        title="shards"
        label={describeLine("Shards", shardCounts)}
        series={[{ style: "steps", values: [...shardCounts.slice(0, current + 1), shardCounts[current] ?? null] }]}
        minUpperEnd={4}
        isSmall
      />
    </>
  );
}

/** It rises from the axis at the first known bucket, and falls to it at the end. */
function outlineOf(x: readonly number[], { added }: Buckets): Series {
  return { style: "outline", values: x.map((at) => (at % 1 ? undefined : (added[at] ?? added[at - 1] ?? null))) };
}

/** Charts of what happened over time. */
import type { LineSeriesOption } from "echarts";
import type { Trial } from "../trial.ts";
import { axis, type Chart, SMALL, type Theme } from "./chart.ts";
import { type Simulated, TITLES } from "./results.ts";

type Point = readonly [x: number, y: number];

const count = (number: number) => number.toLocaleString("en-US", { maximumFractionDigits: 0 });

/** A line, with its name at its end, if it has one. `raised` is by how many pixels that is above it. */
function line(name: string, color: string, points: readonly Point[], raised = 0): LineSeriesOption {
  return {
    type: "line",
    data: points.map(([x, y]) => [x, y]),
    showSymbol: false,
    lineStyle: { color, width: 3 },
    itemStyle: { color },
    endLabel: {
      show: name !== "",
      formatter: name,
      color,
      fontSize: SMALL + 1,
      fontWeight: 600,
      distance: 8,
      offset: [0, -raised],
    },
  };
}

/** What was asked for: an area behind the lines. */
function offered(theme: Theme, points: readonly Point[], name: string, at: Point): LineSeriesOption {
  return {
    type: "line",
    data: points.map(([x, y]) => [x, y]),
    showSymbol: false,
    lineStyle: { width: 0 },
    areaStyle: { color: theme.offered, opacity: 1 },
    ...named(name, theme.muted, at),
  };
}

/** A name somewhere in the picture. */
function named(name: string, color: string, at: Point): Pick<LineSeriesOption, "markPoint"> {
  const label = { show: true, formatter: name, position: "top", distance: 4, color, fontSize: SMALL + 1 } as const;
  return { markPoint: { symbolSize: 0, data: [{ name, coord: [...at] }], label } };
}

/** Room for titles, axes and names. */
const GRID = { left: 72, right: 190, top: 80, bottom: 56 };

/** A step of one counter from 1 increment per second to a crowd, as each contender took it. */
export function viral(name: string, trials: readonly Trial[], step: string): Chart | undefined {
  const steps = trials.filter(({ load }) => load === step);
  const [first] = steps;
  if (!first) return undefined;
  const peak = first.offeredPerSecond;
  // Until increments were no longer offered.
  const until = first.timeline.findLast((second) => second.offered > 0)?.at ?? 0;
  const points = ({ timeline }: Trial, of: "offered" | "acknowledged"): Point[] =>
    timeline.filter(({ at }) => at <= until).map((second) => [second.at + 0.5, second[of]]);
  const outcomes = steps.map((trial, n) => {
    // Of the last three seconds, so that it is of what lasts.
    const last = points(trial, "acknowledged").slice(-3);
    const rate = last.reduce((sum, [, acknowledged]) => sum + acknowledged, 0) / last.length;
    const label = `${TITLES[trial.contender]}: ${count(rate)}/s`;
    // Two at the bottom would hide each other.
    const raised = rate < 0.05 * peak ? 8 + 20 * n : 0;
    return {
      label,
      series: (theme: Theme) => line(label, theme[trial.contender], points(trial, "acknowledged"), raised),
    };
  });
  return {
    name,
    title: `A post goes viral: from 1 increment per second to ${count(peak)}`,
    subtitle: "Increments of one counter that are acknowledged, per second",
    description:
      `From one second to the next, clients make ${count(peak)} increments of one counter per second ` +
      `instead of 1. ${until} seconds later, so many are acknowledged: ${outcomes.map(({ label }) => label).join(", ")}.`,
    height: 430,
    option: (theme) => ({
      grid: GRID,
      xAxis: {
        ...axis(theme, "seconds since the crowd came"),
        nameGap: 34,
        min: first.timeline[0]?.at ?? 0,
        max: until + 0.5,
        interval: 5,
        axisLabel: { ...axis(theme, "").axisLabel, showMaxLabel: false },
        splitLine: { show: false },
      },
      yAxis: { ...axis(theme, "increments per second"), nameGap: 52 },
      series: [
        { ...offered(theme, points(first, "offered"), "made by clients", [0.6 * until, 0.2 * peak]), step: "middle" },
        ...outcomes.map(({ series }) => series(theme)),
      ],
    }),
  };
}

/**
 * What is drawn of a simulated run: increments per second, over spans of time, and the shard count whenever it was looked at.
 *
 * @param unit  milliseconds of one step on the axis
 */
function simulatedPoints({ timeline }: Simulated, span: number, unit: number) {
  const spans = Map.groupBy(timeline, ({ at }) => Math.floor(at / span));
  const rate = (of: "offered" | "committed") =>
    [...spans].map(([n, windows]): Point => {
      const sum = windows.reduce((all, window) => all + window[of], 0);
      return [((n + 0.5) * span) / unit, (sum * 1_000) / span];
    });
  const shards = timeline
    .filter(({ shardCount }) => shardCount > 0)
    .map((one): Point => [one.at / unit, one.shardCount]);
  return { offered: rate("offered"), committed: rate("committed"), shards };
}

const highest = (points: readonly Point[]) => Math.max(...points.map(([, y]) => y));

/** A crowd, all at once: what it asks for, what the documents take, and the shards there are. */
export function crowd(run: Simulated): Chart {
  const { offered: asked, committed, shards } = simulatedPoints(run, 1_000, 1_000);
  const [asks, has] = [highest(asked), highest(shards)];
  const until = asked.length;
  const panels = { left: GRID.left, right: GRID.right };
  return {
    name: "crowd",
    title: "A crowd, simulated: from 1 increment per second to 1,000",
    subtitle: "Increments per second, made and committed, and the shards that clients are told to spread over",
    description:
      `In a simulated crowd of 1,000 increments per second, ${(100 * run.acknowledged).toFixed(1)} % are acknowledged ` +
      `before people leave. The shard count grows from 1 to ${count(has)}.`,
    height: 560,
    option: (theme) => ({
      grid: [
        { ...panels, top: 80, height: 240 },
        { ...panels, top: 366, height: 130 },
      ],
      xAxis: ["", "seconds"].map((name, gridIndex) => ({
        ...axis(theme, name),
        gridIndex,
        nameGap: 34,
        max: until,
        interval: 10,
        splitLine: { show: false },
      })),
      yAxis: [
        { ...axis(theme, "increments per second"), nameGap: 52, gridIndex: 0 },
        { ...axis(theme, "shards"), nameGap: 52, gridIndex: 1, splitNumber: 3 },
      ],
      series: [
        { ...offered(theme, asked, "made by clients", [0.6 * until, 0.2 * asks]), step: "middle" },
        line("committed", theme.tally, committed),
        { ...line(`${count(has)} shards`, theme.tally, shards), step: "end", xAxisIndex: 1, yAxisIndex: 1 },
      ],
    }),
  };
}

/** A day, with the shards that follow its traffic. */
export function day(run: Simulated): Chart {
  const hour = 3_600_000;
  const { offered: asked, shards } = simulatedPoints(run, hour / 30, hour);
  const [asks, has] = [highest(asked), highest(shards)];
  const most = shards.filter(([, shardCount]) => shardCount === has);
  const middle = most[Math.floor(most.length / 2)]?.[0] ?? 0;
  return {
    name: "day",
    title: "A day, simulated: shards follow the load",
    subtitle: "A shard takes one write per second, so increments per second and shards share a scale",
    description:
      `In a simulated day of six hours, traffic rises to ${count(asks)} increments per second and falls again. ` +
      `The shard count follows it, up to ${count(has)}.`,
    height: 400,
    option: (theme) => ({
      grid: { ...GRID, right: 40 },
      xAxis: {
        ...axis(theme, "hours"),
        nameGap: 34,
        max: Math.ceil(asked.at(-1)?.[0] ?? 0),
        interval: 1,
        splitLine: { show: false },
      },
      yAxis: { ...axis(theme, "increments per second, shards"), nameGap: 52 },
      series: [
        offered(theme, asked, "increments per second", [3, 0.3 * asks]),
        { ...line("", theme.tally, shards), step: "end", ...named(`${count(has)} shards`, theme.tally, [middle, has]) },
      ],
    }),
  };
}

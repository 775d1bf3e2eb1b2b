/**
 * The charts of the documents, from recorded results. ECharts draws each as SVG without a browser, for light and for dark pages,
 * with a title and a description for screen readers. The colours are those of Okabe and Ito, which people with any kind of
 * colour vision can tell apart (https://jfly.uni-koeln.de/color/); symbols and labels repeat what colours say.
 */
import { type EChartsOption, init, type LineSeriesOption } from "echarts";
import type { LoadResult } from "../../bench/contest.ts";
import type { SimulatedRun } from "../../bench/simulation/summary.ts";
import { TITLES } from "../../bench/tables.ts";
import { formatDollars, formatNumber, formatWhole } from "../../cli/src/format.ts";
import type { EditionCosts } from "./editionTables.ts";
import type { WrittenShare } from "./visitors.ts";

export const THEMES = {
  light: {
    ...{ ink: "#1f2328", muted: "#59636e", grid: "#d9dee3", offered: "#e4e8ec" },
    ...{ tally: "#0072b2", recipe: "#c04f00", single: "#a8518a" },
  },
  dark: {
    ...{ ink: "#f0f6fc", muted: "#9ea7b1", grid: "#30363d", offered: "#2b323b" },
    ...{ tally: "#56b4e9", recipe: "#e69f00", single: "#d68fb6" },
  },
} as const;
type Theme = (typeof THEMES)["light" | "dark"];

export interface Chart {
  /** The beginning of its files' names. */
  readonly name: string;
  readonly title: string;
  /** What is drawn, and in which unit. */
  readonly subtitle: string;
  /** What the chart shows, in words. */
  readonly description: string;
  readonly height: number;
  readonly option: (theme: Theme) => EChartsOption;
}

const WIDTH = 860;
const FONT = "-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif";
const SMALL = 13;

/** Every chart. Those whose figures were not recorded are left out. */
export function charts(
  contest: readonly LoadResult[],
  slow: readonly LoadResult[],
  runs: readonly SimulatedRun[],
  shares: readonly WrittenShare[] = [],
  costs: readonly EditionCosts[] = [],
): Chart[] {
  return [
    ...viral("viral", contest, "1 to 100/s"),
    ...viral("slow", slow, "1 to 1000/s"),
    ...runs.filter(({ scenario }) => scenario === "flash crowd 1,000/s").map(crowd),
    ...runs.filter(({ scenario }) => scenario === "day").map(day),
    ...(shares.length > 0 ? [visitors(shares)] : []),
    ...(costs.length > 0 ? [editions(costs)] : []),
  ];
}

export function svg({ height, title, subtitle, description, option }: Chart, theme: Theme): string {
  const drawing = init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height });
  drawing.setOption({
    animation: false,
    textStyle: { fontFamily: FONT, fontSize: SMALL, color: theme.ink },
    title: {
      ...{ text: title, subtext: subtitle, left: 8, top: 4, itemGap: 6 },
      textStyle: { fontSize: 18, fontWeight: 600, color: theme.ink },
      subtextStyle: { fontSize: SMALL + 1, color: theme.muted },
    },
    ...option(theme),
  });
  const drawn = drawing.renderToSVGString({ useViewBox: true });
  drawing.dispose();
  const labels = `<title id="title">${escaped(title)}</title>\n<desc id="description">${escaped(description)}</desc>`;
  const head = 'role="img" aria-labelledby="title description"';
  return `${drawn
    .replace(/^<svg ([^>]*)>/, (_, attributes) => `<svg ${attributes} ${head}>\n${labels}`)
    // Styles for pointers, and identifiers that count the charts of this process.
    .replace(/<style[\s\S]*?<\/style>\n?| class="[^"]*"| pointer-events="[^"]*"/g, "")
    .replace(/\bzr\d+-/g, "")}\n`;
}

/** The Markdown that shows a chart. */
export function picture({ name, description }: Chart, folder: string): string {
  const dark = `<source media="(prefers-color-scheme: dark)" srcset="${folder}/${name}-dark.svg">`;
  return `<picture>${dark}<img alt="${escaped(description)}" src="${folder}/${name}-light.svg"></picture>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

type Point = readonly [x: number, y: number];

const highest = (points: readonly Point[]) => Math.max(...points.map(([, y]) => y));

/** An axis of numbers. */
function axis(theme: Theme, name: string, nameGap = 34) {
  return {
    ...({ type: "value", name, nameLocation: "middle", nameGap } as const),
    ...{ nameTextStyle: { color: theme.muted, fontSize: SMALL }, axisLabel: { color: theme.muted, fontSize: SMALL } },
    ...{ axisLine: { show: false }, axisTick: { show: false }, splitLine: { lineStyle: { color: theme.grid } } },
  };
}

/** A line with a name at its end. */
function line(name: string, color: string, points: readonly Point[]): LineSeriesOption {
  return {
    ...({ type: "line", data: points.map((point) => [...point]), showSymbol: false } as const),
    ...{ lineStyle: { color, width: 3 }, itemStyle: { color } },
    endLabel: { show: name !== "", formatter: name, color, fontSize: SMALL + 1, fontWeight: 600, distance: 8 },
    labelLayout: { moveOverlap: "shiftY" },
  };
}

/** What was offered, as an area behind the lines, with a name inside. */
function area(theme: Theme, points: readonly Point[], name: string, at: Point): LineSeriesOption {
  return {
    ...({ type: "line", data: points.map((point) => [...point]), showSymbol: false, lineStyle: { width: 0 } } as const),
    ...{ areaStyle: { color: theme.offered, opacity: 1 }, ...label(name, theme.muted, at) },
  };
}

/** A name at a point of the chart. */
function label(name: string, color: string, at: Point): Pick<LineSeriesOption, "markPoint"> {
  const text = { show: true, formatter: name, position: "top", distance: 4, color, fontSize: SMALL + 1 } as const;
  return { markPoint: { symbolSize: 0, data: [{ name, coord: [...at] }], label: text } };
}

/** Room for titles, axes and the names of lines. */
const GRID = { left: 72, right: 190, top: 80, bottom: 56 };

/** A step of one counter from 1 increment per second to a crowd, by approach. */
function viral(name: string, results: readonly LoadResult[], step: string): Chart[] {
  const steps = results.filter(({ load }) => load === step);
  const [first] = steps;
  if (!first?.timeline) return [];
  const { timeline, offeredPerSecond: peak } = first;
  const until = timeline.findLast((second) => second.offered > 0)?.at ?? 0;
  const points = (seconds: LoadResult["timeline"] = [], of: "offered" | "acknowledged") =>
    seconds.filter(({ at }) => at <= until).map((second): Point => [second.at + 0.5, second[of]]);
  const lines = steps.map((result) => {
    const acknowledged = points(result.timeline, "acknowledged");
    // Of the last three seconds, so that it is a rate that lasts.
    const rate = acknowledged.slice(-3).reduce((sum, [, y]) => sum + y / 3, 0);
    const text = `${TITLES[result.approach]}: ${formatWhole(rate)}/s`;
    return { text, draw: (theme: Theme) => line(text, theme[result.approach], acknowledged) };
  });
  const chart: Chart = {
    name,
    title: `A post goes viral: from 1 increment per second to ${formatWhole(peak)}`,
    subtitle: "Acknowledged increments of one counter, per second; the write limit of documents is modelled",
    description:
      `From one second to the next, clients make ${formatWhole(peak)} increments of one counter per second instead of 1. ` +
      `Acknowledged per second, ${until} seconds later: ${lines.map(({ text }) => text).join(", ")}.`,
    height: 430,
    option: (theme) => ({
      grid: GRID,
      xAxis: {
        ...{ ...axis(theme, "seconds since the crowd came"), min: timeline[0]?.at ?? 0, max: until + 0.5, interval: 5 },
        ...{ axisLabel: { ...axis(theme, "").axisLabel, showMaxLabel: false }, splitLine: { show: false } },
      },
      yAxis: axis(theme, "increments per second", 52),
      series: [
        { ...area(theme, points(timeline, "offered"), "made by clients", [0.6 * until, 0.2 * peak]), step: "middle" },
        ...lines.map(({ draw }) => draw(theme)),
      ],
    }),
  };
  return [chart];
}

/**
 * Rates of a simulated run over spans of time, and its shard count.
 *
 * @param unit  milliseconds of one unit of the axis
 */
function simulated({ timeline = [] }: SimulatedRun, span: number, unit: number) {
  const spans = [...Map.groupBy(timeline, ({ at }) => Math.floor(at / span))];
  const rate = (of: "offered" | "committed") =>
    spans.map(([n, windows]): Point => {
      const sum = windows.reduce((all, window) => all + window[of], 0);
      return [((n + 0.5) * span) / unit, (sum * 1_000) / span];
    });
  const shards = timeline.filter((one) => one.shardCount > 0).map((one): Point => [one.at / unit, one.shardCount]);
  return { offered: rate("offered"), committed: rate("committed"), shards };
}

function crowd(run: SimulatedRun): Chart {
  const { offered, committed, shards } = simulated(run, 1_000, 1_000);
  const until = offered.length;
  const [peak, most] = [highest(offered), highest(shards)];
  const grid = { left: GRID.left, right: GRID.right };
  const time = { max: until, interval: 10, splitLine: { show: false } };
  return {
    name: "crowd",
    title: "A crowd, simulated: from 1 increment per second to 1,000",
    subtitle: "Increments per second, made and committed, and the published shard count",
    description:
      `In a simulated crowd of 1,000 increments per second, ${(100 * run.acknowledged).toFixed(1)} % are acknowledged ` +
      `before users leave. The shard count grows from 1 to ${formatWhole(most)}.`,
    height: 560,
    option: (theme) => ({
      grid: [
        { ...grid, top: 80, height: 240 },
        { ...grid, top: 366, height: 130 },
      ],
      xAxis: ["", "seconds"].map((name, gridIndex) => ({ ...axis(theme, name), ...time, gridIndex })),
      yAxis: [
        { ...axis(theme, "increments per second", 52), gridIndex: 0 },
        { ...axis(theme, "shards", 52), gridIndex: 1, splitNumber: 3 },
      ],
      series: [
        { ...area(theme, offered, "made by clients", [0.6 * until, 0.2 * peak]), step: "middle" },
        line("committed", theme.tally, committed),
        { ...line(`${formatWhole(most)} shards`, theme.tally, shards), step: "end", xAxisIndex: 1, yAxisIndex: 1 },
      ],
    }),
  };
}

function day(run: SimulatedRun): Chart {
  const hour = 3_600_000;
  const { offered, shards } = simulated(run, hour / 30, hour);
  const [peak, most] = [highest(offered), highest(shards)];
  const highestShards = shards.filter(([, shardCount]) => shardCount === most);
  const middle = highestShards[Math.floor(highestShards.length / 2)]?.[0] ?? 0;
  return {
    name: "day",
    title: "A day, simulated: shards follow the load",
    subtitle: "A shard takes one write per second, so increments per second and shards share a scale",
    description:
      `In a simulated day of six hours, traffic rises to ${formatWhole(peak)} increments per second and falls again. ` +
      `The shard count follows it, up to ${formatWhole(most)}.`,
    height: 400,
    option: (theme) => ({
      grid: { ...GRID, right: 40 },
      xAxis: {
        ...axis(theme, "hours"),
        max: Math.ceil(offered.at(-1)?.[0] ?? 0),
        interval: 1,
        splitLine: { show: false },
      },
      yAxis: axis(theme, "increments per second, shards", 52),
      series: [
        area(theme, offered, "increments per second", [3, 0.3 * peak]),
        {
          ...line("", theme.tally, shards),
          step: "end",
          ...label(`${formatWhole(most)} shards`, theme.tally, [middle, 0.86 * most]),
        },
      ],
    }),
  };
}

function visitors(shares: readonly WrittenShare[]): Chart {
  const last = shares.at(-1) as WrittenShare;
  const points = shares.map((share): Point => [share.visitors, share.recent]);
  return {
    name: "visitors",
    title: "The more visitors a counter has had, the fewer are written",
    subtitle: "Writes per visitor who has not been there before, of the last ones",
    description:
      `Up to 100,000 visitors each costs one write. Of those before the ${formatWhole(last.visitors)}th, ` +
      `${(100 * last.recent).toFixed(1)} % do.`,
    height: 360,
    option: (theme) => ({
      grid: { ...GRID, right: 60 },
      xAxis: {
        ...{ ...axis(theme, "visitors"), type: "log", min: 1_000, max: 10_000_000, splitLine: { show: false } },
        axisLabel: { color: theme.muted, fontSize: SMALL, formatter: (visitors: number) => formatWhole(visitors) },
      },
      yAxis: { ...axis(theme, "writes per visitor", 52), max: 1 },
      series: [{ ...line("", theme.tally, points), step: "middle" }],
    }),
  };
}

function editions(costs: readonly EditionCosts[]): Chart {
  const points = (of: "standard" | "enterprise") => costs.map((one): Point => [one.perSecond, one[of]]);
  const [first, last] = [costs[0], costs.at(-1)] as [EditionCosts, EditionCosts];
  return {
    name: "editions",
    title: "What a million views cost on both editions of Firestore",
    subtitle: "US dollars in us-central1, estimated, by the rate of a counter; without readers and CPU",
    description:
      `At one view in ${1 / first.perSecond} seconds a million cost ${formatDollars(first.standard)} on Standard and ` +
      `${formatDollars(first.enterprise)} on Enterprise; at ${formatWhole(last.perSecond)} a second ${formatDollars(last.standard)} and ${formatDollars(last.enterprise)}.`,
    height: 360,
    option: (theme) => ({
      grid: GRID,
      xAxis: {
        ...{ ...axis(theme, "views per second"), type: "log", min: first.perSecond, max: last.perSecond },
        ...{ splitLine: { show: false } },
        axisLabel: { color: theme.muted, fontSize: SMALL, formatter: (rate: number) => formatNumber(rate) },
      },
      yAxis: { ...axis(theme, "$ per million", 52), min: 0 },
      series: [
        line(`Standard: ${formatDollars(last.standard)}`, theme.muted, points("standard")),
        line(`Enterprise: ${formatDollars(last.enterprise)}`, theme.tally, points("enterprise")),
      ],
    }),
  };
}

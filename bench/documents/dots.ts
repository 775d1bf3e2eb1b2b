/** Charts that compare contenders, load by load: a dot for each, with its value beside it. */
import type { EChartsOption, ScatterSeriesOption } from "echarts";
import type { ContenderName } from "../contenders.ts";
import type { Trial } from "../trial.ts";
import { axis, type Chart, SMALL, type Theme } from "./chart.ts";
import { loadTitle, TITLES } from "./results.ts";

/** From top to bottom within a load; each with a shape of its own. */
const CONTENDERS: readonly (readonly [ContenderName, string])[] = [
  ["single", "triangle"],
  ["recipe", "rect"],
  ["tally", "circle"],
];

/** Pixels between the dots of one load. */
const APART = 17;

/** Pixels for one load. */
const ROW = 74;
const ABOVE = 110;
const BELOW = 58;

/** Loads from top to bottom, and their dots. `infinite` is where those are that never came. */
function dots(
  trials: readonly Trial[],
  theme: Theme,
  { of, text }: Values,
  infinite: number,
): { loads: string[]; series: ScatterSeriesOption[] } {
  const loads = [...new Set(trials.map(({ load }) => loadTitle(load)))];
  const series = CONTENDERS.map(([contender, symbol], n): ScatterSeriesOption => {
    const color = theme[contender];
    const data = trials
      .filter((trial) => trial.contender === contender)
      .map((trial) => {
        const value = of(trial);
        const never = !Number.isFinite(value);
        return {
          value: [never ? infinite : value, loadTitle(trial.load)],
          itemStyle: never
            ? { color: "transparent", borderColor: color, borderWidth: 2, opacity: 1 }
            : { color, opacity: 1 },
          label: { formatter: text(value), position: never ? "left" : "right" } as const,
        };
      });
    return {
      type: "scatter",
      name: TITLES[contender],
      symbol,
      symbolSize: 11,
      symbolOffset: [0, (n - 1) * APART],
      itemStyle: { color, opacity: 1 },
      data,
      clip: false,
      label: { show: true, color, fontSize: SMALL, distance: 7 },
    };
  });
  return { loads, series };
}

interface Values {
  readonly of: (trial: Trial) => number;
  readonly text: (value: number) => string;
}

/** Axes and legend that these charts share. */
function frame(theme: Theme, loads: readonly string[]) {
  return {
    grid: { left: 130, right: 60, top: ABOVE, bottom: BELOW },
    legend: {
      left: 8,
      top: 58,
      itemGap: 28,
      itemWidth: 12,
      itemHeight: 12,
      textStyle: { color: theme.ink, fontSize: SMALL + 1 },
    },
    yAxis: {
      type: "category",
      data: [...loads],
      inverse: true,
      name: "increments offered",
      nameLocation: "middle",
      nameTextStyle: { color: theme.muted, fontSize: SMALL },
      nameGap: 108,
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { color: theme.ink, fontSize: SMALL + 1 },
      splitArea: { show: true, areaStyle: { color: [theme.offered, "transparent"], opacity: 0.45 } },
    },
  } satisfies EChartsOption;
}

const heightOf = (trials: readonly Trial[]) => ABOVE + BELOW + ROW * new Set(trials.map(({ load }) => load)).size;

const seconds = (millis: number) => {
  if (!Number.isFinite(millis)) return "never";
  return millis < 1_000 ? `${Math.round(millis)} ms` : `${Number((millis / 1_000).toFixed(1))} s`;
};

/** What each contender's values are, in words. */
function told(trials: readonly Trial[], { of, text }: Values): string {
  const loads = [...new Set(trials.map(({ load }) => load))];
  const under = (load: string) => trials.filter((trial) => trial.load === load);
  const each = (trial: Trial) => `${TITLES[trial.contender]} ${text(of(trial))}`;
  return loads.map((load) => `${loadTitle(load)}: ${under(load).map(each).join(", ")}`).join("; ");
}

/** How long 95 of 100 increments took at most. */
export function acknowledgement(trials: readonly Trial[]): Chart {
  const values: Values = { of: ({ acknowledgement: { p95 } }) => p95, text: seconds };
  const slowest = Math.max(...trials.map(values.of).filter(Number.isFinite));
  // A power of ten, so that it has a tick of its own, and well away from what did come.
  const infinite = 10 ** (Math.floor(Math.log10(2 * slowest)) + 1);
  return {
    name: "acknowledgement",
    title: "How long an increment takes",
    subtitle: "Until 95 of 100 are acknowledged; never, if more than 5 of 100 had not been when the trial ended",
    description: `Until 95 of 100 increments are acknowledged. ${told(trials, values)}.`,
    height: heightOf(trials),
    option(theme) {
      const { loads, series } = dots(trials, theme, values, infinite);
      return {
        ...frame(theme, loads),
        xAxis: {
          ...axis(theme, "time until acknowledged, 95th percentile, logarithmic"),
          type: "log",
          nameGap: 34,
          min: 10,
          max: infinite,
          axisLabel: {
            color: theme.muted,
            fontSize: SMALL,
            formatter: (value: number) => seconds(value === infinite ? Number.POSITIVE_INFINITY : value),
          },
        },
        series,
      };
    },
  };
}

/** What a million accepted increments cost. */
export function dollars(trials: readonly Trial[], floor: number): Chart {
  const values: Values = {
    of: ({ dollarsPerMillion }) => dollarsPerMillion,
    text: (value) => `$${value.toFixed(2)}`,
  };
  return {
    name: "dollars",
    title: "What a million increments cost",
    subtitle: "Of those that were accepted, clients and functions together; without what readers read",
    description: `Dollars for a million accepted increments. ${told(trials, values)}.`,
    height: heightOf(trials),
    option(theme) {
      const { loads, series } = dots(trials, theme, values, 0);
      const line: ScatterSeriesOption["markLine"] = {
        symbol: "none",
        silent: true,
        z: 1,
        lineStyle: { color: theme.muted, type: "dashed", width: 1.5 },
        label: { formatter: "the write itself", color: theme.muted, fontSize: SMALL, position: "start" },
        data: [{ xAxis: floor }],
      };
      return {
        ...frame(theme, loads),
        xAxis: {
          ...axis(theme, "US$ per million increments, prices of nam5"),
          nameGap: 34,
          min: 0,
          axisLabel: { color: theme.muted, fontSize: SMALL, formatter: (value: number) => `$${value}` },
        },
        series: series.map((one, n) => (n === 0 ? { ...one, markLine: line } : one)),
      };
    },
  };
}

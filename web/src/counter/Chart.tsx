/**
 * One chart: what its value axis counts, as a text above the axis, and one or two series. Charts that stand above each other
 * count different things, so each has an axis of its own.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { onColoursChange } from "../page/browserState.ts";
import { axisLabels, stepsFor, type ValueAxis, valueRange } from "./valueAxis.ts";

/** How a series is drawn: `"outline"` is the outline of columns. */
export type SeriesStyle = "area" | "columns" | "line" | "outline" | "steps";

export interface Series {
  readonly style: SeriesStyle;
  /** A value for each x: `null` is not known, `undefined` is no place of this series. */
  readonly values: readonly (number | null | undefined)[];
}

export interface Tick {
  readonly x: number;
  readonly label: string;
}

export interface ChartProps extends Partial<ValueAxis> {
  /** What the value axis counts. */
  readonly title: ComponentChildren;
  /** The names of its series, if it has two. */
  readonly legend?: ComponentChildren;
  /** What a reader of the picture learns. */
  readonly label: string;
  /** Where the time axis begins and ends. */
  readonly span: readonly [number, number];
  readonly ticks: readonly Tick[];
  readonly x: readonly number[];
  /** Their styles stay the same. */
  readonly series: readonly Series[];
  readonly isSmall?: boolean;
}

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const chart = useRef<uPlot>(undefined);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const build = () => {
      chart.current?.destroy();
      chart.current = new uPlot(optionsOf(element, latest), dataOf(latest.current), element);
    };
    build();
    const resized = new ResizeObserver(() => {
      chart.current?.setSize({ width: element.clientWidth, height: element.clientHeight });
    });
    resized.observe(element);
    const endColours = onColoursChange(build);
    // A canvas does not wait for the font.
    document.fonts.ready.then(() => chart.current?.redraw());
    return () => {
      endColours();
      resized.disconnect();
      chart.current?.destroy();
      chart.current = undefined;
    };
  }, []);
  useEffect(() => {
    if (box.current && box.current.clientWidth > 0) chart.current?.setData(dataOf(latest.current));
  });

  return (
    <figure>
      <figcaption class="axis">
        <span>{props.title}</span>
        {props.legend}
      </figcaption>
      <div class={props.isSmall ? "chart low" : "chart"} ref={box} role="img" aria-label={props.label} />
    </figure>
  );
}

/** With both ends of the time axis: a chart without a value has axes, too. */
function dataOf({ span: [from, to], x, series }: ChartProps): uPlot.AlignedData {
  return [[from, ...x, to], ...series.map(({ values }) => [undefined, ...values, undefined])];
}

function optionsOf(element: HTMLElement, latest: { readonly current: ChartProps }): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name);
  const font = `12px ${style.fontFamily}`;
  const axis = { stroke: colour("--quiet"), font, ticks: { show: false }, border: { show: false } };
  const hairline = 1 / devicePixelRatio;
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    hooks: { drawAxes: [(self) => drawZeroLine(self, colour("--quiet"))] },
    scales: {
      x: { time: false, range: () => [...latest.current.span] },
      y: {
        range: (_, lowest, highest) =>
          valueRange(lowest ?? 0, highest ?? 0, { fromZero: true, minUpperEnd: 0, ...latest.current }),
      },
    },
    axes: [
      {
        ...axis,
        size: 34,
        gap: 11,
        grid: { show: false },
        splits: () => latest.current.ticks.map(({ x }) => x),
        values: () => latest.current.ticks.map(({ label }) => label),
      },
      {
        ...axis,
        // Wide enough for 7.0002M, so that charts above each other begin at the same place.
        size: (_, labels) => Math.max(58, ...(labels ?? []).map((label) => label.length * 7 + 14)),
        grid: { stroke: colour("--line"), width: hairline },
        space: latest.current.isSmall ? 24 : 40,
        incrs: () => stepsFor(latest.current.series.flatMap(({ values }) => values)),
        values: (_, splits) => axisLabels(splits),
      },
    ],
    series: [{}, ...latest.current.series.map((one) => seriesOf(one.style, colour))],
  };
}

function seriesOf(style: SeriesStyle, colour: (name: string) => string): uPlot.Series {
  const { bars, stepped } = uPlot.paths;
  const stairs = stepped && { paths: stepped({ align: 1 }) };
  // A value without neighbours makes no line.
  const points: uPlot.Series.Points = {
    show: (self, index) => (self.data[index] ?? []).filter((value) => typeof value === "number").length === 1,
    size: 6,
  };
  switch (style) {
    case "area":
      return { stroke: colour("--accent"), width: 2, fill: colour("--wash"), points };
    case "line":
      return { stroke: colour("--accent"), width: 2, spanGaps: true, points };
    case "steps":
      return { stroke: colour("--ink"), width: 1.25, points, ...stairs };
    case "outline":
      return { stroke: colour("--quiet"), width: 1.25, points: { show: false }, ...stairs };
    case "columns":
      return {
        fill: colour("--accent"),
        width: 0,
        points: { show: false },
        ...(bars && { paths: bars({ size: [0.7, 48] }) }),
      };
  }
}

/** The line from which columns rise or fall. */
function drawZeroLine({ ctx, bbox, scales, valToPos }: uPlot, colour: string): void {
  const { min = 0, max = 0 } = scales.y ?? {};
  if ((min ?? 0) > 0 || (max ?? 0) < 0) return;
  const y = Math.round(valToPos(0, "y", true));
  ctx.fillStyle = colour;
  ctx.fillRect(bbox.left, y, bbox.width, 1);
}

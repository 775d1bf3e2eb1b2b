/** A chart of writes per second and the shard count: the last two minutes, or a longer history. */
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { onColorSchemeChange } from "../page/browserState.ts";
import { formatWhole } from "../page/format.ts";
import { type Point, upToNow } from "./rate.ts";

export interface RateChartProps {
  readonly points: readonly Point[];
  /** The time span. */
  readonly spanMs: number;
  /** Whether the right end follows the current time. */
  readonly live: boolean;
  readonly label: string;
}

const REDRAW_MS = 500;

export function RateChart({ points, spanMs, live, label }: RateChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef(points);
  const redraw = useRef(() => {});

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let chart: uPlot | undefined;
    const update = () => {
      if (chart && element.clientWidth > 0) chart.setData(dataOf(latest.current, spanMs, live));
    };
    const build = () => {
      chart?.destroy();
      chart = new uPlot(optionsOf(element, spanMs), dataOf(latest.current, spanMs, live), element);
    };
    redraw.current = update;
    build();
    const resized = new ResizeObserver(() => {
      chart?.setSize({ width: element.clientWidth, height: element.clientHeight });
    });
    resized.observe(element);
    const endTheme = onColorSchemeChange(build);
    const timer = live ? setInterval(update, REDRAW_MS) : undefined;
    // A canvas does not wait for the font.
    document.fonts.ready.then(update);
    return () => {
      clearInterval(timer);
      endTheme();
      resized.disconnect();
      chart?.destroy();
    };
  }, [spanMs, live]);
  useEffect(() => {
    latest.current = points;
    redraw.current();
  }, [points]);

  return <div class="chart" ref={box} role="img" aria-label={label} />;
}

function dataOf(points: readonly Point[], spanMs: number, live: boolean): uPlot.AlignedData {
  const end = Date.now();
  const shown = live ? upToNow(points, end) : points;
  // The edges of the time span, so that the scale does not depend on the data.
  const start = end - spanMs;
  const at = [start, ...shown.map((point) => Math.max(point.at, start)), end].map((millis) => millis / 1_000);
  return [at, [null, ...shown.map(({ rate }) => rate), null], [null, ...shown.map((p) => p.shardCount), null]];
}

function optionsOf(element: HTMLElement, spanMs: number): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name);
  const font = `12px ${style.fontFamily}`;
  const axis = { stroke: colour("--quiet"), font, ticks: { show: false }, border: { show: false } };
  const { stepped } = uPlot.paths;
  const pixelRatio = devicePixelRatio;
  // A single point, beside the two edges, makes no line.
  const isAlone = { show: (self: uPlot) => self.data[0].length === 3, size: 6 };
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    padding: [8, 14, 0, 2],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: (self) => [(self.data[0].at(-1) ?? 0) - spanMs / 1_000, self.data[0].at(-1) ?? 0] },
      y: { range: (_, __, max) => [0, Math.max(max * 1.12, 4)] },
    },
    axes: [
      {
        ...axis,
        size: 34,
        gap: 11,
        grid: { show: false },
        splits: (_, __, min, max) => Array.from({ length: 5 }, (_, i) => min + ((max - min) * i) / 4),
        values: (self, splits) => splits.map((x) => timeLabel((self.data[0].at(-1) ?? 0) - x)),
      },
      {
        ...axis,
        size: 46,
        grid: { stroke: colour("--line"), width: 1 / pixelRatio },
        space: 40,
        values: (_, splits) => splits.map((y) => (Number.isInteger(y) ? formatWhole(y) : "")),
      },
    ],
    series: [
      {},
      {
        stroke: colour("--accent"),
        width: 2,
        points: isAlone,
        fill: colour("--wash"),
      },
      {
        stroke: colour("--ink"),
        width: 1.25,
        points: isAlone,
        ...(stepped && { paths: stepped({ align: 1 }) }),
      },
    ],
  };
}

function timeLabel(secondsAgo: number): string {
  const rounded = Math.round(secondsAgo);
  if (rounded === 0) return "now";
  if (rounded < 180) return `−${rounded} s`;
  if (rounded < 10_800) return `−${Math.round(rounded / 60)} min`;
  if (rounded < 172_800) return `−${Math.round(rounded / 3_600)} h`;
  return `−${Math.round(rounded / 86_400)} days`;
}

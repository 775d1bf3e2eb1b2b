/**
 * How a chart looks, and how it becomes a picture: one SVG for light pages and one for dark ones, drawn without a browser,
 * with a title and a description for those who do not see it. Colours are Okabe's and Ito's, which people with any kind of
 * colour vision tell apart (https://jfly.uni-koeln.de/color/); shapes and labels say the same as colours.
 */
import { type EChartsOption, init } from "echarts";

/** Colours of one kind of page, whose background shows through. */
export interface Theme {
  readonly ink: string;
  readonly muted: string;
  readonly grid: string;
  /** Behind lines: what was asked for. */
  readonly offered: string;
  readonly tally: string;
  readonly recipe: string;
  readonly single: string;
}

export const THEMES = {
  light: {
    ink: "#1f2328",
    muted: "#59636e",
    grid: "#d9dee3",
    offered: "#e4e8ec",
    tally: "#0072b2",
    recipe: "#c04f00",
    single: "#a8518a",
  },
  dark: {
    ink: "#f0f6fc",
    muted: "#9ea7b1",
    grid: "#30363d",
    offered: "#2b323b",
    tally: "#56b4e9",
    recipe: "#e69f00",
    single: "#d68fb6",
  },
} as const satisfies Record<string, Theme>;

export interface Chart {
  /** Of its files. */
  readonly name: string;
  /** What it shows, and in which unit. */
  readonly title: string;
  readonly subtitle: string;
  /** What somebody would see in it. */
  readonly description: string;
  readonly height: number;
  readonly option: (theme: Theme) => EChartsOption;
}

const WIDTH = 860;
const FONT = "-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif";

/** Of small text, such as that of axes. */
export const SMALL = 13;

export function svg(chart: Chart, theme: Theme): string {
  const { height, title, subtitle, description } = chart;
  const drawing = init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height });
  drawing.setOption({
    animation: false,
    textStyle: { fontFamily: FONT, fontSize: SMALL, color: theme.ink },
    title: {
      text: title,
      subtext: subtitle,
      left: 8,
      top: 4,
      itemGap: 6,
      textStyle: { fontSize: 18, fontWeight: 600, color: theme.ink },
      subtextStyle: { fontSize: SMALL + 1, color: theme.muted },
    },
    ...chart.option(theme),
  });
  const drawn = drawing.renderToSVGString({ useViewBox: true });
  drawing.dispose();
  const told = `<title id="title">${escaped(title)}</title>\n<desc id="description">${escaped(description)}</desc>`;
  return `${drawn
    .replace(
      /^<svg ([^>]*)>/,
      (_, attributes) => `<svg ${attributes} role="img" aria-labelledby="title description">\n${told}`,
    )
    // What is for a pointer, which a picture has not; and names that say how many were drawn before.
    .replace(/<style[\s\S]*?<\/style>\n?| class="[^"]*"| pointer-events="[^"]*"/g, "")
    .replace(/\bzr\d+-/g, "")}\n`;
}

/** How a page shows it. */
export function picture({ name, description }: Chart, folder: string): string {
  return [
    "<picture>",
    `  <source media="(prefers-color-scheme: dark)" srcset="${folder}/${name}-dark.svg">`,
    `  <img alt="${escaped(description)}" src="${folder}/${name}-light.svg">`,
    "</picture>",
  ].join("\n");
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** An axis of numbers. */
export function axis(theme: Theme, name: string) {
  return {
    type: "value",
    name,
    nameLocation: "middle",
    nameTextStyle: { color: theme.muted, fontSize: SMALL },
    axisLabel: { color: theme.muted, fontSize: SMALL },
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: theme.grid } },
  } as const;
}

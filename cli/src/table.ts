/** Tables and lists for a terminal. */
import Table from "cli-table3";
import { paint } from "./output.ts";

/** Columns of a narrow terminal. */
const WIDTH = 80;

/** A title and a line for each item, wrapped at the width of a narrow terminal. */
export function bulletList(title: string, items: readonly string[]): string {
  return [
    paint("dim", title),
    ...items.flatMap((item) => wrap(item, WIDTH - 2).map((line, i) => (i ? "  " : "- ") + line)),
  ].join("\n");
}

/** Text wrapped at the width of a narrow terminal, each line indented. */
export function paragraph(text: string, indent: number): string {
  return wrap(text, WIDTH - indent)
    .map((line) => " ".repeat(indent) + line)
    .join("\n");
}

function wrap(text: string, width: number): string[] {
  // A word that is longer than a line, such as the name of a resource, stands alone.
  return text.match(new RegExp(`\\S(?:.{0,${width - 2}}\\S)?(?=\\s|$)|\\S+`, "g")) ?? [text];
}

export type Cell = string | number;

const NO_LINES = Object.fromEntries(
  ["top", "bottom", "left", "right", "mid"]
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`, "left-mid", "right-mid"])
    .map((part) => [part, ""]),
);

/** Aligned columns, two spaces apart, without lines. */
export function table(
  rows: readonly (readonly Cell[])[],
  aligns: readonly ("left" | "right")[],
  head?: string[],
): string {
  const made = new Table({
    chars: { ...NO_LINES, middle: "  " },
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [] },
    colAligns: [...aligns],
    ...(head && { head: head.map((title) => paint("dim", title)) }),
  });
  made.push(...rows.map((row) => [...row]));
  return made
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/**
 * Tables and lists for a terminal, at most as wide as it. Where a table is too wide, its widest columns give way: text wraps, and ids lose
 * their middle. Numbers stay whole.
 */
import Table from "cli-table3";
import stringWidth from "string-width";
import { paint } from "./output.ts";
import { clamp, columnsOf, wrap } from "./wrap.ts";

/** A title and a line for each item, wrapped. */
export function bulletList(title: string, items: readonly string[]): string {
  const width = columnsOf(process.stdout) - 2;
  return [
    paint("dim", title),
    ...items.flatMap((item) => wrap(item, width, "clamped").map((line, i) => (i ? "  " : "- ") + line)),
  ].join("\n");
}

export type Cell = string | number;

/** `left`: text. `right`: a number. `id`: text without styles, which is clamped. */
export type Column = "left" | "right" | "id";

/** A column keeps at least its longest word, up to this many characters. */
const NARROWEST = { id: 12, left: 24 };

const GAP = 2;

const NO_LINES = Object.fromEntries(
  ["top", "bottom", "left", "right", "mid"]
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`, "left-mid", "right-mid"])
    .map((part) => [part, ""]),
);

/** Aligned columns, two spaces apart, without lines. */
export function table(
  rows: readonly (readonly Cell[])[],
  columns: readonly Column[],
  head?: string[],
  width = columnsOf(process.stdout),
): string {
  const widths = widthsOf(rows, columns, head ?? [], width);
  const made = new Table({
    chars: { ...NO_LINES, middle: " ".repeat(GAP) },
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [] },
    colAligns: columns.map((column) => (column === "right" ? "right" : "left")),
    ...(head && { head: head.map((title) => paint("dim", title)) }),
  });
  made.push(...rows.map((row) => row.map((cell, n) => fitted(`${cell}`, columns[n] ?? "left", widths[n] ?? width))));
  return made
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

function fitted(cell: string, column: Column, width: number): string {
  if (stringWidth(cell) <= width) return cell;
  return column === "id" ? clamp(cell, width) : wrap(cell, width, "clamped").join("\n");
}

function widthsOf(
  rows: readonly (readonly Cell[])[],
  columns: readonly Column[],
  head: readonly string[],
  width: number,
): number[] {
  const widest = (n: number, parts: (cell: string) => string[]) =>
    rows.flatMap((row) => parts(`${row[n] ?? ""}`).map(stringWidth)).reduce((most, one) => Math.max(most, one), 0);
  const widths = columns.map((_, n) =>
    Math.max(
      widest(n, (cell) => [cell]),
      stringWidth(head[n] ?? ""),
    ),
  );
  const least = columns.map((column, n) =>
    column === "right"
      ? (widths[n] ?? 0)
      : Math.max(
          Math.min(
            widest(n, (cell) => cell.split(/\s+/)),
            NARROWEST[column],
          ),
          stringWidth(head[n] ?? ""),
        ),
  );
  const sum = () => widths.reduce((all, one) => all + one, GAP * (columns.length - 1));
  for (;;) {
    const surplus = widths.map((one, n) => (one > (least[n] ?? 0) ? one : 0));
    const n = surplus.indexOf(Math.max(...surplus));
    if (sum() <= width || surplus[n] === 0) return widths;
    widths[n] = (widths[n] ?? 0) - 1;
  }
}

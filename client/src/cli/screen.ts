/**
 * What is printed. Results go to stdout, as text or JSON; everything else, questions and progress included, to stderr, so
 * that a pipe gets results alone. Colours and bars are for terminals, and NO_COLOR is respected.
 */
import { styleText } from "node:util";
import Table from "cli-table3";

type Style = Parameters<typeof styleText>[0];

/** Colours a part of what goes to stdout; `process.stderr` for what goes there. */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return stream.isTTY && stream.hasColors() ? styleText(style, text, { validateStream: false }) : text;
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(result: unknown): void {
  print(JSON.stringify(result, null, 2));
}

/** Tells whoever is watching. */
export function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** A title and a line for each item, broken where a narrow terminal ends. */
export function list(title: string, items: readonly string[]): string {
  return [
    paint("dim", title),
    ...items.flatMap((item) => broken(item, WIDTH - 2).map((line, i) => (i ? "  " : "- ") + line)),
  ].join("\n");
}

/** Columns of a narrow terminal. */
const WIDTH = 80;

function broken(text: string, width: number): string[] {
  return text.match(new RegExp(`\\S(?:.{0,${width - 2}}\\S)?(?=\\s|$)`, "g")) ?? [text];
}

export type Cell = string | number;

const NO_LINES = Object.fromEntries(
  ["top", "bottom", "left", "right", "mid"]
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`, "left-mid", "right-mid"])
    .map((part) => [part, ""]),
);

/** Columns, aligned, two spaces apart, without lines. */
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

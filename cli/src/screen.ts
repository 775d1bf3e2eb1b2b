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

/** C0, DEL, C1, and what changes the direction of text: in a terminal they act, or make an id look like another. */
const ACTING = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** An id, group, path or message as it may be printed: what would act on the terminal as `\u{1b}`. Not for JSON. */
export function shown(text: string): string {
  return text.replace(ACTING, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** A word as a shell must be given it to pass on this very one, and as it may be printed. */
export function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (shown(word) === word) return `'${word.replaceAll("'", "'\\''")}'`;
  // In bytes and octal, which all shells that have $'…' read alike.
  const octal = (character: string) =>
    [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`);
  return `$'${word.replace(/[\\']/g, "\\$&").replace(ACTING, (character) => octal(character).join(""))}'`;
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

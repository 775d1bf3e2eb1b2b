/** Tables in Markdown, for documents and the terminal, and their figures. */
import { markdownTable } from "markdown-table";
import { formatWhole } from "../cli/src/format.ts";

/** @param words  columns of words, which are aligned left; the columns after them are of numbers */
export function table(head: readonly string[], words: number, rows: readonly (readonly (string | number)[])[]): string {
  const align = head.map((_, column) => (column < words ? "" : "right"));
  return markdownTable([head, ...rows.map((row) => row.map(String))], { align });
}

/** One row for each item: `columns` have a title and a cell. */
export function tableOf<Item>(
  items: readonly Item[],
  words: number,
  columns: Readonly<Record<string, (item: Item) => string | number>>,
): string {
  const cells = Object.values(columns);
  return table(
    Object.keys(columns),
    words,
    items.map((item) => cells.map((cell) => cell(item))),
  );
}

export function fixed(number: number, digits: number): string {
  return number.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** `1.2 s`; "never" for what did not happen. */
export function seconds(millis: number, digits = 1): string {
  if (Number.isNaN(millis)) return "";
  if (!Number.isFinite(millis)) return "never";
  return millis < 100_000 ? `${fixed(millis / 1_000, digits)} s` : `${formatWhole(millis / 60_000)} min`;
}

/**
 * Fits text to the width of a terminal. A line ends between two words, never inside one. Code in backticks is one word, so that it can be
 * copied. Widths are columns as cli-table3 counts them: a Chinese character or an emoji has two.
 */
import stringWidth from "string-width";

/** Without a terminal. */
const DEFAULT_COLUMNS = 80;

/** Longer lines are hard to read. */
const MOST_COLUMNS = 100;

/** A shortened link does not work. */
const LINK = /^\W*https?:/;

/** A word that is longer than a line: it stands alone, or loses its middle, if it is no link. */
export type LongWords = "whole" | "clamped";

/** How wide a line of output may be. */
export function columnsOf(stream: NodeJS.WriteStream): number {
  return Math.min((stream.isTTY && stream.columns) || DEFAULT_COLUMNS, MOST_COLUMNS);
}

/** The lines of one paragraph. */
export function wrap(text: string, width: number, longWords: LongWords = "whole"): string[] {
  return fill(longWords === "whole" ? wordsOf(text) : fittingWords(text, width), width);
}

/** As many parts on each line as fit. */
export function fill(parts: readonly string[], width: number, separator = " "): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const longer = lines.length > 0 ? `${lines.at(-1)}${separator}${part}` : part;
    if (lines.length === 0 || stringWidth(longer) > width) lines.push(part);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

function wordsOf(text: string): string[] {
  return text.match(/[^\s`]*(?:`[^`]*`[^\s`]*)+|\S+/g) ?? [];
}

function fittingWords(text: string, width: number): string[] {
  return wordsOf(text)
    .flatMap((word) => (stringWidth(word) <= width ? [word] : word.split(/\s+/)))
    .map((word) => (LINK.test(word) ? word : clamp(word, width)));
}

/** Each line of a message, wrapped. A line that begins with a space is a command or a column: it stays as it is. */
export function wrapMessage(message: string, width: number): string {
  return message
    .split("\n")
    .flatMap((line) => (line === "" || line.startsWith(" ") ? [line] : wrap(line, width)))
    .join("\n");
}

const graphemes = new Intl.Segmenter();

/** `likes:aaaa…zz42`: the middle of a longer text is left out, so that the group and the end stay visible. For text without styles. */
export function clamp(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  const parts = [...graphemes.segment(text)].map(({ segment }) => segment);
  const start = beginning(parts, Math.ceil((width - 1) / 2));
  const end = beginning(parts.toReversed(), width - 1 - stringWidth(start.join("")));
  return `${start.join("")}…${end.toReversed().join("")}`;
}

function beginning(parts: readonly string[], width: number): string[] {
  const taken: string[] = [];
  let left = width;
  for (const part of parts) {
    left -= stringWidth(part);
    if (left < 0) break;
    taken.push(part);
  }
  return taken;
}

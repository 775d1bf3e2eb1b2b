/** How lines are put into a file, in its own form, and taken out again. */
import type { Declaration } from "../../rulesSyntax/declarations.ts";
import { tokensOf } from "../../rulesSyntax/tokens.ts";

/**
 * Inserts lines before the bracket that ends a block.
 *
 * If the bracket is the first character of its line, an empty line and the lines come before this line. If not, its line is split. So
 * the empty line tells `removeLines` which of both it was.
 */
export function insertLines(source: string, bracket: number, lines: string, eol: string): string {
  const lineStart = source.lastIndexOf("\n", bracket - 1) + 1;
  const isFirst = !/\S/.test(source.slice(lineStart, bracket));
  const at = isFirst ? lineStart : bracket;
  return source.slice(0, at) + eol + lines + source.slice(at);
}

/** Takes out what `insertLines` has put in: the file has the bytes again that it had. */
export function removeLines(source: string, start: number, end: number): string {
  const [before, after] = [source.slice(0, start), source.slice(end)];
  const joined = before.replace(/\r?\n$/, "");
  const wasSplit = after.startsWith("}") && !endsInComment(joined);
  return (joined.endsWith("\n") || wasSplit ? joined : before) + after;
}

/** What follows on its line would be part of the comment. */
function endsInComment(source: string): boolean {
  const last = tokensOf(source).at(-1);
  return last?.kind === "comment" && last.text.startsWith("//") && last.end === source.length;
}

/** Lines with an indentation before each, and of another unit than two spaces. */
export function indented(lines: string, indent: string, unit = "  ", eol = "\n"): string {
  return lines
    .trimEnd()
    .split("\n")
    .map((line) => (line === "" ? eol : indent + line.replace(/^( {2})*/, (own) => unit.repeat(own.length / 2)) + eol))
    .join("");
}

/** The line ends of a file, which added lines have, too. */
export function lineEndOf(source: string): string {
  return /\r?\n/.exec(source)?.[0] ?? "\n";
}

/** The indentation of one level of a file. */
export function unitOf(source: string): string {
  for (const { start, kind } of tokensOf(source)) {
    const indent = indentAt(source, start);
    if (kind !== "comment" && indent) return indent.startsWith("\t") ? "\t" : indent;
  }
  return "  ";
}

/** The indentation of what is added to a block: that of its first statement, or else one more than its own. */
export function indentIn(source: string, block: Declaration, unit: string): string {
  const [first] = block.children;
  const inside = first && indentAt(source, first.start);
  if (inside) return inside;
  const lineStart = source.lastIndexOf("\n", block.start) + 1;
  return (/^[ \t]*/.exec(source.slice(lineStart))?.[0] ?? "") + unit;
}

/** The white space before an offset, if that is the first of its line. */
function indentAt(source: string, offset: number): string | undefined {
  const before = source.slice(source.lastIndexOf("\n", offset - 1) + 1, offset);
  return /\S/.test(before) ? undefined : before;
}

/**
 * The markers around Tally's rules in the app's file.
 *
 * The opening marker has the version that wrote the block, and a hash of all in it but the policy, which tells whether the app has edited
 * what `upgrade` replaces.
 */
import { createHash } from "node:crypto";
import { listed } from "../../doctor/finding.ts";
import { lineAt, tokensOf } from "../../rulesSyntax/tokens.ts";
import { Refusal } from "./composed.ts";

/** The lines between two markers, and their place. */
export interface Block {
  /** Offsets: the first character of the opening marker's line, and the end of the closing marker's line. */
  readonly start: number;
  readonly end: number;
  /** All lines between the markers. */
  readonly text: string;
  /** The offset of `text`. */
  readonly textStart: number;
  /** The white space before the opening marker. */
  readonly indent: string;
  readonly version: string;
  readonly hash: string;
}

const OPENING = /^\/\/\s*<tally (\S+) ([0-9a-f]{8})>/;
const CLOSING = /^\/\/\s*<\/tally>\s*$/;

export function openingMarker(version: string, hash: string): string {
  return `// <tally ${version} ${hash}> Edit the functions of the policy. \`npx firestore-tally upgrade\` renews the rest.`;
}

export const CLOSING_MARKER = "// </tally>";

/** @throws Refusal if one of the markers is missing, twice or not alone on its line */
export function findBlock(source: string): Block | undefined {
  const comments = tokensOf(source).filter(({ kind }) => kind === "comment");
  const openings = comments.filter(({ text }) => OPENING.test(text));
  const closings = comments.filter(({ text }) => CLOSING.test(text));
  const [opening, closing] = [openings[0], closings[0]];
  if (!opening && !closing) return undefined;
  const isWhole = opening && closing && openings.length === 1 && closings.length === 1 && opening.start < closing.start;
  if (!isWhole) {
    const lines = [...openings, ...closings].map(({ start }) => lineAt(source, start));
    throw new Refusal(
      `the markers of Tally's rules are damaged (line ${listed(lines.map(String))}): one \`// <tally VERSION HASH>\` and one \`${CLOSING_MARKER}\` after it are ` +
        "expected. Restore them from your version control, or delete them and Tally's rules, and run `npx firestore-tally init`",
    );
  }
  const start = source.lastIndexOf("\n", opening.start) + 1;
  const indent = source.slice(start, opening.start);
  const beforeClosing = source.slice(source.lastIndexOf("\n", closing.start) + 1, closing.start);
  if (/\S/.test(indent + beforeClosing)) {
    throw new Refusal(
      `code stands before a marker of Tally's rules (line ${lineAt(source, /\S/.test(indent) ? opening.start : closing.start)}), ` +
        "which needs a line of its own: move the marker to one",
    );
  }
  const textStart = lineEnd(source, opening.start);
  const [, version = "", hash = ""] = OPENING.exec(opening.text) ?? [];
  return {
    start,
    end: lineEnd(source, closing.start),
    text: source.slice(textStart, closing.start - beforeClosing.length),
    textStart,
    indent,
    version,
    hash,
  };
}

/**
 * The first characters of a hash of code and comments. White space does not count, so a formatter changes no hash; nor does the list of
 * limits, which `upgrade` writes.
 */
export function hashOf(...texts: readonly string[]): string {
  const hash = createHash("sha256");
  const withoutLimits = texts.map((text) => text.replace(/\blimit in \[[^\]]*\]/, "limit in []"));
  for (const { text } of withoutLimits.flatMap(tokensOf)) hash.update(`${text}\n`);
  return hash.digest("hex").slice(0, 8);
}

function lineEnd(source: string, offset: number): number {
  const newline = source.indexOf("\n", offset);
  return newline < 0 ? source.length : newline + 1;
}

/** Tally's rules as an app needs them: for its collection, inside its own block of documents, and without sections it has not chosen. */
import { type Declaration, parseDeclarations } from "../../rulesSyntax/declarations.ts";
import { tokensOf } from "../../rulesSyntax/tokens.ts";
import { Refusal } from "./composed.ts";

/** The functions of the limits that stand beside the app's own rules, which call them. */
export const LIMIT_FUNCTIONS = ["isWithinLimit", "isPaidByUse", "isRested"];

/** What an app may leave out of `firestore.rules`. */
export const LIMITS = {
  match: "/tallyLimits/{limit}/tallyUses/{uid}",
  functions: [...LIMIT_FUNCTIONS, "isLimit", "isOwnLimit", "isUse"],
};
export const VISITORS = { match: "/tallyVisitors/{bucket}", functions: ["countsVisitors", "isVisitor", "addsHash"] };

export interface Sections {
  readonly visitors: boolean;
  readonly limits: boolean;
  /** The limits that the app's rules call, or all, because one has its name from a variable. */
  readonly limitNames: readonly string[] | "all";
  readonly collection: string;
}

/**
 * @param tally     the text of Tally's `firestore.rules`
 * @param wildcard  the name of the wildcard in `match /databases/{database}/documents` around the lines
 * @throws Refusal  if no path in rules may have the collection's name
 * @returns         lines without indentation, each two spaces deeper than the block around it; they end with `\n`
 */
export function sectionsOf(tally: string, sections: Sections, wildcard: string): string {
  if (!/^[\w.~-]+$/.test(sections.collection)) {
    throw new Refusal(
      `the collection "${sections.collection}" cannot be named in rules: choose letters, digits, \`_\`, \`-\`, \`.\` and \`~\` (the parameter COLLECTION)`,
    );
  }
  const documents = parseDeclarations(tally).declarations[0]?.children[0];
  if (!documents) throw new Error("Tally's firestore.rules has no block of documents");
  const edits = [...cuts(documents, leftOut(sections)), ...renames(tally, sections.collection, wildcard)];
  const inside = edits
    .filter(({ start }) => start >= documents.bodyStart && start < documents.bodyEnd)
    .filter((edit) => !edits.some((other) => other !== edit && other.start <= edit.start && other.end >= edit.end))
    .toSorted((a, b) => b.start - a.start);
  let text = tally.slice(0, documents.bodyEnd);
  for (const { start, end, by } of inside) text = text.slice(0, start) + by + text.slice(end);
  const lines = text
    .slice(documents.bodyStart)
    .split("\n")
    .map((line) => line.replace(/^ {4}/, ""));
  const { limitNames } = sections;
  const condition = limitNames === "all" ? "true" : `limit in [${limitNames.join(", ")}]`;
  return `${lines.join("\n").trim()}\n`.replace("limit in []", () => condition);
}

/** The names in Tally's rules, with which a wildcard around them must not be confused. */
export function namesIn(tally: string): ReadonlySet<string> {
  return new Set(tokensOf(tally).flatMap(({ kind, text }) => (kind === "word" ? [text] : [])));
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

function leftOut({ visitors, limits }: Sections): string[] {
  return [...(visitors ? [] : [VISITORS]), ...(limits ? [] : [LIMITS])].flatMap(({ match, functions }) => [
    match,
    ...functions,
  ]);
}

/** Cuts declarations with the comments above them. */
function cuts({ children }: Declaration, names: readonly string[]): Edit[] {
  return children.flatMap((child) =>
    names.includes(child.name) ? [{ start: child.lead, end: child.end, by: "" }] : cuts(child, names),
  );
}

function renames(tally: string, collection: string, wildcard: string): Edit[] {
  const code = tokensOf(tally).filter(({ kind }) => kind !== "comment");
  return code.flatMap(({ text, start, end }, index) => {
    const before = code[index - 1]?.text;
    if (text === "counters" && before === "/") return [{ start, end, by: collection }];
    if (text === "database" && before === "(") return [{ start, end, by: wildcard }];
    return [];
  });
}

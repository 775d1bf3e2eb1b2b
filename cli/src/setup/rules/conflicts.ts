/** What of an app's own rules conflicts with Tally's. */
import { type CoveringMatch, coveringMatches } from "../../doctor/coveringMatches.ts";
import { listed } from "../../doctor/finding.ts";
import { parseRules } from "../../doctor/rulesSource.ts";
import { declarationsIn } from "../../rulesSyntax/declarations.ts";
import { lineAt, tokensOf } from "../../rulesSyntax/tokens.ts";
import { PAGES } from "../packaged.ts";
import { Refusal } from "./composed.ts";
import type { Block } from "./markers.ts";
import type { Place } from "./place.ts";
import { LIMIT_FUNCTIONS } from "./sections.ts";

/** Matches of the app that cover documents of Tally, so that Tally's rules cannot close these. */
export interface Overlaps {
  /** Matches of the collection itself that let clients write, and what to do. */
  readonly own: string | undefined;
  /** All others, one each. */
  readonly others: readonly string[];
}

/** @param outside  the app's file, with empty lines in place of Tally's */
export function overlapsIn(outside: string, collection: string): Overlaps {
  const rules = parseRules(outside);
  const all = coveringMatches(rules.matches, rules, collection);
  const own = all.filter(({ match, kind }) => match.path.split("/")[1] === collection && kind !== "read-open");
  const others = all.filter((covering) => !own.includes(covering));
  return {
    own: own.length > 0 ? ownMatches(own) : undefined,
    others: others.map((covering) => `${whatItAllows(covering)}. ${remedyOf(covering, collection)}`),
  };
}

function ownMatches(own: readonly CoveringMatch[]): string {
  const matches = own.map(({ match: { path, line } }) => `match ${path} (line ${line})`);
  return (
    `your rules let clients write documents of Tally, and rules add up: ${listed(matches, 5)}. Delete what allows that: Tally's rules ` +
    `replace it. If they are for counters made by hand, ${PAGES}/adopting.md says how old apps go on. If these are Tally's rules, pasted by hand, ` +
    "write the edits of their policy into the new one. If your app keeps documents of its own there, give Tally another collection (the parameter COLLECTION)"
  );
}

function whatItAllows({ match: { line, path }, allow: { methods, condition }, kind }: CoveringMatch): string {
  const effect = {
    open: "lets every client write documents of Tally, totals among them",
    overlap: `lets clients for which \`${condition}\` holds write documents of Tally, totals among them`,
    "read-open": "lets every client read documents of Tally",
  }[kind];
  return `line ${line}: \`allow ${methods.join(", ")}\` of match ${path} ${effect}, because rules add up`;
}

function remedyOf({ match: { path } }: CoveringMatch, collection: string): string {
  if (path.startsWith(`/${collection}/`))
    return "Delete this match, if `mayReadCounter` of Tally's policy decides who reads";
  const [, name] = /^\/\{(\w+)=\*\*\}$/.exec(path) ?? [];
  if (!name) return `Name your own collections in ${path} instead of the wildcard`;
  return (
    `Name your own collections instead, such as \`match /posts/{${name}=**}\`, or write ` +
    `\`match /{collection}/{${name}=**}\` with \`!(collection in ['${collection}', 'tallyLimits', 'tallyReceipts', 'tallyServerLimits']) && …\` in its conditions`
  );
}

/**
 * Refuses functions of the app with the names of those that limit rates. One beside them does not compile; one further out would be
 * replaced by Tally's for all rules of the app that call it. Functions further in are no conflict.
 *
 * @throws Refusal
 */
export function refuseSameNames(source: string, { functions }: Place, block: Block | undefined): void {
  const own = functions.filter(({ start }) => !block || start < block.start || start >= block.end);
  const same = own.find(({ name }) => LIMIT_FUNCTIONS.includes(name));
  if (!same) return;
  throw new Refusal(
    `line ${lineAt(source, same.start)}: your function \`${same.name}\` has the name of one that Tally's rate limits put beside your rules. ` +
      "Rename yours, with its calls, or leave out the rate limits",
  );
}

/**
 * The first call of a function of the rate limits in the app's own rules, which declare none of that name.
 *
 * @param policy  may call it, too
 */
export function callOfLimits(outside: string, policy = ""): { name: string; line: number } | undefined {
  const declared = new Set(declarationsIn(outside).flatMap(({ kind, name }) => (kind === "function" ? [name] : [])));
  const call = tokensOf(`${outside}\n${policy}`).find(
    ({ kind, text }) => kind === "word" && LIMIT_FUNCTIONS.includes(text) && !declared.has(text),
  );
  return call && { name: call.text, line: lineAt(outside, call.start) };
}

/** The limits that rules name in calls of `isWithinLimit`, each once, as strings of rules; all if one has another expression. */
export function limitsCalledIn(rules: string): string[] | "all" {
  const code = tokensOf(rules).filter(({ kind }) => kind !== "comment");
  const calls = code.flatMap(({ text }, n) =>
    LIMIT_FUNCTIONS.includes(text) && code[n - 1]?.text !== "function" ? [code.slice(n + 2, n + 4)] : [],
  );
  if (calls.some(([first, next]) => first?.kind !== "string" || next?.text !== ",")) return "all";
  return [...new Set(calls.map(([first]) => first?.text as string))].sort();
}

/** A match without any statement, which the compiler refuses. */
export function emptyMatch(source: string): { name: string; line: number } | undefined {
  const empty = declarationsIn(source).find(
    ({ kind, children, allows }) => kind === "match" && children.length === 0 && allows.length === 0,
  );
  return empty && { name: empty.name, line: lineAt(source, empty.start) };
}

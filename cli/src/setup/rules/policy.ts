/**
 * The policy: the functions that the app edits. Between the two headings all is the app's, comments and functions of its own included:
 * `upgrade` only adds functions that are new.
 */
import { type Declaration, parseDeclarations } from "../../rulesSyntax/declarations.ts";
import { codeOf, tokensOf } from "../../rulesSyntax/tokens.ts";
import { type Groups, Refusal } from "./composed.ts";

/** Rules in three parts. */
export interface Parts {
  /** With the heading of the policy. */
  readonly head: string;
  readonly policy: string;
  /** From the heading after the policy. */
  readonly rest: string;
}

const HEADINGS = ["// ── Policy", "// ── Rules:"] as const;

/** @throws Refusal if a heading is missing */
export function partsOf(text: string): Parts {
  const comments = tokensOf(text).filter(({ kind }) => kind === "comment");
  const [first, last] = HEADINGS.map((heading) => comments.find((comment) => comment.text.startsWith(heading)));
  if (!first || !last || last.start < first.start) {
    throw new Refusal(
      "between the markers of Tally's rules, the policy must have its two headings: a line that begins with " +
        `\`${HEADINGS[0]}\` before it, and one that begins with \`${HEADINGS[1]}\` after it. Write them again where they were`,
    );
  }
  const start = text.indexOf("\n", first.start) + 1;
  const end = text.lastIndexOf("\n", last.start) + 1;
  return { head: text.slice(0, start), policy: text.slice(start, end), rest: text.slice(end) };
}

/** The functions whose lists `init` writes. */
const LISTS = {
  isOpen: "open",
  countsOncePerUser: "once",
  isBounded: "stock",
  countsVisitors: "visitors",
  needsFunctions: "functions",
} as const;

/**
 * Writes chosen groups into the functions of a policy.
 *
 * @param warn  told of each function that the app has edited into another form than a list, which stays as it is
 */
export function withGroups(policy: string, chosen: Groups, warn: (warning: string) => void): string {
  let text = policy;
  for (const declared of functionsOf(policy).toReversed()) {
    if (declared.name === "hasFunctions") {
      const found = constantIn(policy, declared);
      if (found) text = text.slice(0, found.start) + chosen.hasFunctions + text.slice(found.end);
      else warn("hasFunctions does not return true or false, so it stays as it is");
    }
    const key = LISTS[declared.name as keyof typeof LISTS];
    if (key === undefined) continue;
    const list = listIn(policy, declared);
    const groups = chosen[key];
    if (!list) {
      const missing = groups.length > 0 ? `; name there: ${[groups].flat().join(", ")}` : "";
      warn(`${declared.name} is not the list that \`init\` writes, so it stays as it is${missing}`);
    } else if (conditionOf(list.groups) !== conditionOf(groups)) {
      text = text.slice(0, list.start) + conditionOf(groups) + text.slice(list.end);
    }
  }
  return text;
}

/** The groups in the functions of a policy. Empty for a function that is missing or has another form. */
export function groupsOf(policy: string): Groups {
  const found = functionsOf(policy).map((declared) => {
    const key = LISTS[declared.name as keyof typeof LISTS];
    return [key, listIn(policy, declared)?.groups ?? []] as const;
  });
  const declared = functionsOf(policy).find(({ name }) => name === "hasFunctions");
  const hasFunctions = !declared || constantIn(policy, declared)?.text !== "false";
  const groups: Groups = { open: [], once: [], stock: [], visitors: [], functions: [], hasFunctions };
  return { ...groups, ...Object.fromEntries(found.filter(([key]) => key !== undefined)) };
}

/** `true` or `false` in a function that returns it, and its place. */
function constantIn(policy: string, { bodyStart, bodyEnd }: Declaration) {
  const tokens = tokensOf(policy.slice(0, bodyEnd)).filter(({ start }) => start >= bodyStart);
  const isConstant = /^return (true|false);?$/.test(codeOf(tokens).trim());
  return isConstant ? tokens.find(({ text }) => text === "true" || text === "false") : undefined;
}

/** The condition of a function of the form that `init` writes, `return counterGroup() in [ … ];` or `return true;`, and its place. */
export function listIn(policy: string, declared: Declaration) {
  const { name, bodyStart, bodyEnd } = declared;
  const tokens = tokensOf(policy.slice(0, bodyEnd)).filter(({ start }) => start >= bodyStart);
  const all = constantIn(policy, declared);
  if (name === "needsFunctions" && all?.text === "true")
    return { start: all.start, end: all.end, groups: "all" as const };
  const open = tokens.findIndex(({ text }) => text === "[");
  const close = tokens.findIndex(({ text }) => text === "]");
  const around = `${codeOf(tokens.slice(0, open))} ${codeOf(tokens.slice(close + 1)).replace(";", "")}`;
  const items = tokens.slice(open + 1, close);
  const isList = items.every(({ kind, text }, index) => (index % 2 === 0 ? kind === "string" : text === ","));
  const first = tokens.find(({ text }) => text === "counterGroup");
  const last = tokens[close];
  if (!first || !last || !isList || around !== "return counterGroup()in ") return undefined;
  const groups = items.flatMap(({ kind, text }) => (kind === "string" ? [textOf(text)] : []));
  return { start: first.start, end: last.end, groups };
}

/** What a string says. */
function textOf(string: string): string {
  return string.slice(1, -1).replace(/\\(.)/g, "$1");
}

function conditionOf(groups: readonly string[] | "all"): string {
  if (groups === "all") return "true";
  return `counterGroup() in [${groups.map((group) => `'${group.replace(/[\\']/g, "\\$&")}'`).join(", ")}]`;
}

/**
 * The app's policy with the functions that it lacks.
 *
 * @param policy  as the app has edited it
 * @param own     that of Tally's rules
 * @param eol     of the app's file
 */
export function withNewFunctions(policy: string, own: string, eol: string): string {
  const present = new Set(functionsOf(policy).map(({ name }) => name));
  const missing = functionsOf(own).filter(({ name }) => !present.has(name));
  if (missing.length === 0) return policy;
  const added = missing.map(({ lead, end }) => own.slice(lead, end).replace(/^(\s*\n)+/, ""));
  return [policy.trimEnd(), ...added, ""].join(eol + eol);
}

/** Functions of a policy that Tally's has not and that the policy does not call: those of an older version. */
export function unusedIn(policy: string, own: string): string[] {
  const known = new Set(functionsOf(own).map(({ name }) => name));
  const words = tokensOf(policy).filter(({ kind }) => kind === "word");
  return functionsOf(policy)
    .map(({ name }) => name)
    .filter((name) => !known.has(name) && words.filter(({ text }) => text === name).length === 1);
}

export function functionsOf(text: string): Declaration[] {
  return parseDeclarations(text).declarations.filter(({ kind }) => kind === "function");
}

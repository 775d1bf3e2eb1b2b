/**
 * Which matches of an app cover documents of Tally. Rules add up: what any match of a path allows is allowed, whatever Tally's own
 * rules say.
 */
import type { Allow } from "../rulesSyntax/declarations.ts";
import type { Match, RulesParts } from "./rulesSource.ts";

export interface CoveringMatch {
  readonly match: Match;
  /** `open`: every client can write. `overlap`: a client for which the condition holds can. `read-open`: every client can read. */
  readonly kind: "open" | "overlap" | "read-open";
  readonly allow: Allow;
}

/** Documents of each kind that Tally keeps, below the collection of the counters. */
const DOCUMENTS = [
  "c",
  "c/shards/0",
  "c/tallyEntries/k",
  "c/tallyReceipts/r",
  "c/tallyCorrections/r",
  "c/tallyHistory/h",
  "c/tallyVisitors/0",
  "c/tallySketches/uniques",
  "c/tallyItemCounts/k",
  "c/tallyOutbox/o",
];

/** Documents that Tally keeps beside the counters. */
const BESIDE = ["tallyReceipts/r", "tallyServerLimits/l/tallyKeys/k"];

/**
 * @param matches  those of the app
 * @param rules    all that they are in, because conditions call functions
 */
export function coveringMatches(matches: readonly Match[], rules: RulesParts, collection: string): CoveringMatch[] {
  const documents = [...DOCUMENTS.map((document) => `${collection}/${document}`), ...BESIDE];
  return matches
    .filter(({ path }) => documents.some((document) => isCovered(document, path)))
    .flatMap((match): CoveringMatch[] => {
      const writes = match.allows.filter(({ methods, condition }) => condition !== "false" && methods.some(isWrite));
      const open = writes.find((allow) => isOpen(allow, rules));
      if (open) return [{ match, kind: "open", allow: open }];
      if (writes[0]) return [{ match, kind: "overlap", allow: writes[0] }];
      const read = match.allows.find((allow) => !allow.methods.every(isWrite) && isOpen(allow, rules));
      return read ? [{ match, kind: "read-open", allow: read }] : [];
    });
}

function isWrite(method: string): boolean {
  return ["write", "create", "update", "delete"].includes(method);
}

/** Conditions that hold for every client, or for every one that signs in, which takes no more than an anonymous account. */
const OPEN = /^(true|request\.auth!=\s?null|request\.auth\.uid!=\s?null|request\.time<\s?timestamp\.date\([^)]*\))$/;

function isOpen({ condition }: Allow, { functions }: RulesParts): boolean {
  if (OPEN.test(condition)) return true;
  const [, name] = /^(\w+)\(\)$/.exec(condition) ?? [];
  return (functions.get(name ?? "") ?? []).some((body) => OPEN.test(body.replace(/^\(\) return (.*?);?$/, "$1")));
}

/** Whether a match applies to a document. A last `{name=**}` stands for any number of segments (version 2 of the rules). */
function isCovered(document: string, path: string): boolean {
  const pattern = path
    .slice(1)
    .split("/")
    .map((segment) => (/=\*\*\}$/.test(segment) ? ".*" : segment.startsWith("{") ? "[^/]+" : escaped(segment)))
    .join("/")
    .replaceAll("/.*", "(/.*)?");
  return new RegExp(`^${pattern}$`).test(document);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

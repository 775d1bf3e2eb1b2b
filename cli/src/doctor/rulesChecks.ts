/**
 * Whether the rules in force are those of this version. Compared are functions and matches by name, because users' files hold
 * rules of their own; of the policy functions only that they exist. Rules that allow add up, so matches of the user's own
 * that cover counters are checked, too.
 */
import { type ProjectFacts, seen } from "./facts.ts";
import { errorFinding, type Finding, listed, warningFinding } from "./finding.ts";
import { type Allow, type Match, parseRules, type RulesParts } from "./rulesSource.ts";

/** The functions at the top of `firestore.rules`, which users edit. */
export const POLICY = [
  "mayRead",
  "countsOncePerUser",
  "isAllowedAmount",
  "isAllowedOnceAmount",
  "isBounded",
  "isAllowedTake",
  "countsVisitors",
  "mayReadSketch",
  "isAllowedRate",
  "isOperator",
];

const COPY =
  "copy everything below the policy of Tally's `firestore.rules` into your rules again (node_modules/firestore-tally has it), " +
  "and run `firebase deploy --only firestore:rules`";

export function checkRules({ rules, ownRules, target }: ProjectFacts): Finding[] {
  const [deployed, own] = [seen(rules), seen(ownRules)];
  if (deployed === undefined || own === undefined) return [];
  if (deployed === null) {
    return [
      errorFinding(
        "rules-not-released",
        `no rules are released for the database "${target.database}", so clients can neither read nor write`,
        "name the database and its rules in firebase.json, and run `firebase deploy --only firestore:rules`",
      ),
    ];
  }
  const wanted = parseRules(own.replaceAll("/counters/", `/${target.collection}/`));
  const present = parseRules(deployed.source);
  const checks = [hasMatches, hasPolicy, isCurrent, allowsNoMore, isCoveredByNoOther];
  const findings: Finding[] = [];
  for (const check of checks) {
    const found = check(wanted, present);
    findings.push(...found);
    // Without a single match of Tally's the rest would say the same again.
    if (check === hasMatches && found.length > 0) return findings;
  }
  return findings;
}

function hasMatches(wanted: RulesParts, present: RulesParts): Finding[] {
  const paths = new Set(present.matches.map(({ path }) => anonymous(path)));
  // Limit documents are in no deployment's collection.
  const counters = wanted.matches.filter(({ path }) => path.startsWith(wanted.matches[0]?.path ?? ""));
  if (counters.some(({ path }) => paths.has(anonymous(path)))) return [];
  return [
    errorFinding(
      "rules-without-counters",
      `the rules in force have no match of Tally's, such as ${wanted.matches[0]?.path}, so clients cannot count`,
      "copy the policy and the rules of Tally's `firestore.rules` into your rules, and run `firebase deploy --only firestore:rules`",
    ),
  ];
}

function hasPolicy(_: RulesParts, { functions }: RulesParts): Finding[] {
  const missing = POLICY.filter((name) => !functions.has(name));
  if (missing.length === 0) return [];
  return [
    errorFinding(
      "rules-policy",
      `the rules in force lack ${listed(missing, 5)} of the policy; each rule that calls it refuses`,
      "add it from the top of Tally's `firestore.rules`, edit it to your policy, and run `firebase deploy --only firestore:rules`",
    ),
  ];
}

function isCurrent(wanted: RulesParts, present: RulesParts): Finding[] {
  const different: string[] = [];
  for (const [name, [body = ""]] of wanted.functions) {
    if (!POLICY.includes(name) && !present.functions.get(name)?.includes(body)) different.push(`function ${name}`);
  }
  for (const { path, allows } of wanted.matches) {
    const inForce = new Set(allowsAt(present, path).map(keyOf));
    if (!allows.every((allow) => inForce.has(keyOf(allow)))) different.push(`match ${path}`);
  }
  if (different.length === 0) return [];
  return [
    errorFinding(
      "rules-outdated",
      `the rules in force are not those of this version: ${listed(different)} ${different.length === 1 ? "is" : "are"} missing or different`,
      COPY,
    ),
  ];
}

function allowsNoMore(wanted: RulesParts, present: RulesParts): Finding[] {
  return wanted.matches.flatMap(({ path, allows }) => {
    const own = new Set(allows.map(keyOf));
    const more = allowsAt(present, path).filter((allow) => !own.has(keyOf(allow)) && allow.condition !== "false");
    // Where an own one is missing too, a single statement was edited: that is told as outdated.
    const isEdited = !allows.every((allow) => allowsAt(present, path).some((other) => keyOf(other) === keyOf(allow)));
    if (more.length === 0 || isEdited) return [];
    return [
      warningFinding(
        "rules-allow-more",
        `match ${path} also has \`allow ${more[0]?.methods.join(", ")}: if ${more[0]?.condition}\`; conditions add up, so it weakens Tally's`,
        "remove it, or let a server make that write",
      ),
    ];
  });
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

function isCoveredByNoOther(wanted: RulesParts, present: RulesParts): Finding[] {
  const collection = wanted.matches[0]?.path.split("/")[1];
  const own = new Set(wanted.matches.map(({ path }) => anonymous(path)));
  const covers = ({ path }: Match) => DOCUMENTS.some((document) => isCovered(`${collection}/${document}`, path));
  return present.matches
    .filter((match) => !own.has(anonymous(match.path)) && covers(match))
    .flatMap(({ path, allows }) => {
      const writes = allows.filter(({ methods, condition }) => condition !== "false" && methods.some(isWrite));
      const open = writes.find((allow) => isOpen(allow, present));
      const reads = allows.find((allow) => allow.methods.some((method) => !isWrite(method)) && isOpen(allow, present));
      const remedy = `name your own collections in ${path} instead of a wildcard, or leave ${collection} out of its condition`;
      if (open) {
        return [
          errorFinding(
            "rules-open",
            `match ${path} covers the counters, and its \`allow ${open.methods.join(", ")}\` lets clients write any total, or documents below it: its condition is \`${open.condition}\``,
            remedy,
          ),
        ];
      }
      if (writes[0]) {
        return [
          warningFinding(
            "rules-overlap",
            `match ${path} covers the counters: clients for which \`${writes[0].condition}\` holds can write any total, or documents below it`,
            remedy,
          ),
        ];
      }
      if (!reads) return [];
      return [
        warningFinding(
          "rules-read-open",
          `match ${path} covers the counters: every client can read documents below them, such as who has which entry`,
          remedy,
        ),
      ];
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
  return (functions.get(name ?? "") ?? []).some((body) => OPEN.test(body.replace(/^\(\) return (.*);$/, "$1")));
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

function allowsAt({ matches }: RulesParts, path: string): Allow[] {
  return matches.filter((match) => anonymous(match.path) === anonymous(path)).flatMap(({ allows }) => allows);
}

/** A path with its wildcards without names. */
function anonymous(path: string): string {
  return path.replace(/\{\w+\}/g, "{}");
}

function keyOf({ methods, condition }: Allow): string {
  return `${methods.toSorted().join()}: ${condition}`;
}

/**
 * Whether the rules in force are those of this version. Compared are functions and matches by name, because users' files hold
 * rules of their own; of the policy functions only that they exist. Rules that allow add up, so matches of the user's own
 * that cover counters are checked, too.
 */
import type { Allow } from "../rulesSyntax/declarations.ts";
import { LIMITS, VISITORS } from "../setup/rules/sections.ts";
import { type CoveringMatch, coveringMatches } from "./coveringMatches.ts";
import { deploymentsFor } from "./deployments.ts";
import { type ProjectFacts, seen } from "./facts.ts";
import { errorFinding, type Finding, listed, warningFinding } from "./finding.ts";
import { parseRules, type RulesParts } from "./rulesSource.ts";

/** The functions at the top of `firestore.rules`, which users edit. */
export const POLICY = [
  "isOpen",
  "countsOncePerUser",
  "needsFunctions",
  "hasFunctions",
  "isBounded",
  "countsVisitors",
  "acceptsOldClients",
  "isAllowedOldAmount",
  "isAllowedAmount",
  "isAllowedOnceAmount",
  "isAllowedTake",
  "isAllowedRate",
  "mayReadCounter",
  "mostListed",
  "maySumShards",
  "mayReadSketch",
  "isCounterOperator",
  "isLimit",
];

const COPY =
  "copy everything below the policy of `node_modules/firestore-tally/firestore.rules` into your rules again, " +
  "and run `firebase deploy --only firestore:rules`";

export function checkRules({ rules, shippedRules, functions, target }: ProjectFacts): Finding[] {
  const [deployed, own] = [seen(rules), seen(shippedRules)];
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
  const present = parseRules(deployed.source);
  const countsVisitors = deploymentsFor(seen(functions) ?? [], target).some((one) =>
    one.functions.has("mergevisitors"),
  );
  const leftOut = [...(countsVisitors ? [] : [VISITORS]), LIMITS].filter((section) => !hasSection(present, section));
  const wanted = without(parseRules(own.replaceAll("/counters/", `/${target.collection}/`)), leftOut);
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

/** A part of Tally's rules that `init` leaves out if the app has not chosen it. */
type Section = typeof LIMITS;

function hasSection({ functions, matches }: RulesParts, section: Section): boolean {
  return functions.has(section.functions[0] ?? "") || matches.some(({ path }) => path.endsWith(section.match));
}

function without({ functions, matches }: RulesParts, sections: readonly Section[]): RulesParts {
  const isLeftOut = (name: string) => sections.some((section) => section.functions.includes(name));
  return {
    functions: new Map([...functions].filter(([name]) => !isLeftOut(name))),
    matches: matches.filter(({ path }) => !sections.some(({ match }) => path.endsWith(match))),
  };
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

function hasPolicy(wanted: RulesParts, { functions }: RulesParts): Finding[] {
  const missing = POLICY.filter((name) => wanted.functions.has(name) && !functions.has(name));
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

function isCoveredByNoOther(wanted: RulesParts, present: RulesParts): Finding[] {
  const collection = wanted.matches[0]?.path.split("/")[1] ?? "";
  const own = new Set(wanted.matches.map(({ path }) => anonymous(path)));
  const others = present.matches.filter(({ path }) => !own.has(anonymous(path)));
  return coveringMatches(others, present, collection).map((covering) => coveringFinding(covering, collection));
}

function coveringFinding({ match: { path }, kind, allow }: CoveringMatch, collection: string): Finding {
  const remedy = `name your own collections in ${path} instead of a wildcard, or leave ${collection} out of its condition`;
  switch (kind) {
    case "open":
      return errorFinding(
        "rules-open",
        `match ${path} covers the counters, and its \`allow ${allow.methods.join(", ")}\` lets clients write any total, or documents below it: its condition is \`${allow.condition}\``,
        remedy,
      );
    case "overlap":
      return warningFinding(
        "rules-overlap",
        `match ${path} covers the counters: clients for which \`${allow.condition}\` holds can write any total, or documents below it`,
        remedy,
      );
    case "read-open":
      return warningFinding(
        "rules-read-open",
        `match ${path} covers the counters: every client can read documents below them, such as who has which entry`,
        remedy,
      );
  }
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

/** Whether the functions know the edition of their database, and which indexes cost without use on Enterprise. */
import { SHARDS } from "../../../core/src/index.ts";
import { COUNTING_DEFAULTS } from "../../../functions/src/decisions.ts";
import { deploymentsFor, variablesOf } from "./deployments.ts";
import { type CompositeIndex, type ProjectFacts, seen } from "./facts.ts";
import { errorFinding, type Finding, listed, warningFinding } from "./finding.ts";
import { nameOf } from "./indexChecks.ts";
import { SET_AND_DEPLOY } from "./parameterChecks.ts";

/** The sweep needs their indexes, whose entries change seldom, so they cost next to nothing: `init --edition enterprise` writes them. */
const SWEEP_FIELDS: readonly string[] = ["phase", "nextReconcileAt"];

/** Whether the database needs no index, and bills each one that it has. */
export function isEnterprise({ database }: ProjectFacts): boolean {
  return seen(database)?.edition === "ENTERPRISE";
}

export function checkEdition(facts: ProjectFacts): Finding[] {
  const { functions, target, database } = facts;
  if (!seen(database)) return [];
  const edition = isEnterprise(facts) ? "enterprise" : "standard";
  return deploymentsFor(seen(functions) ?? [], target).flatMap((deployment) => {
    const variables = variablesOf(deployment);
    const set = variables && (variables.EDITION ?? COUNTING_DEFAULTS.EDITION);
    if (!set || set === edition) return [];
    return [
      errorFinding(
        "edition-differs",
        edition === "enterprise"
          ? "EDITION is standard, and the database is of the Enterprise edition: shards grow above 1 KiB, so an increment costs up to four times as much"
          : "EDITION is enterprise, and the database is of the Standard edition, which has no sum without an index: each measurement reads every shard",
        `set it to ${edition} ${SET_AND_DEPLOY}`,
      ),
    ];
  });
}

/** Whether the sweep finds what it looks for by an index. On Standard each field has one. */
export function checkSweepIndexes(facts: ProjectFacts): Finding[] {
  const { indexes, target } = facts;
  const deployed = seen(indexes);
  if (!deployed || !isEnterprise(facts)) return [];
  const own = deployed.filter(({ collectionGroup }) => collectionGroup === target.collection);
  const missing = SWEEP_FIELDS.filter((name) => !own.some(({ fields: [first] }) => first?.fieldPath === name));
  if (missing.length === 0) return [];
  return [
    warningFinding(
      "index-missing",
      `${target.collection} has no index of ${listed(missing)}, so each sweep scans all counters`,
      "run `npx firestore-tally init --edition enterprise`, which writes it, and `firebase deploy --only firestore:indexes`",
    ),
  ];
}

export function checkUnusedIndexes(facts: ProjectFacts): Finding[] {
  const { indexes, target } = facts;
  const deployed = seen(indexes);
  if (!deployed || !isEnterprise(facts)) return [];
  const isOfSweep = ({ fields: [first] }: CompositeIndex) => SWEEP_FIELDS.includes(first?.fieldPath ?? "");
  const of = (group: string) =>
    deployed.filter((index) => index.collectionGroup === group && !isOfSweep(index)).map(nameOf);
  const [shards, counters] = [of(SHARDS), of(target.collection)];
  const remedy = "delete it in the console, and take it out of your `firestore.indexes.json`";
  return [
    ...(shards.length > 0
      ? [
          warningFinding(
            "index-unused",
            `${listed(shards)}: each increment costs two write units more, and on Enterprise no query needs it`,
            remedy,
          ),
        ]
      : []),
    ...(counters.length > 0
      ? [
          warningFinding(
            "index-costs",
            `${listed(counters)}: each published total costs two write units more for each of them`,
            `keep those that your leaderboards order by; of the others, ${remedy}`,
          ),
        ]
      : []),
  ];
}

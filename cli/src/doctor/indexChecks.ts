/**
 * Whether the indexes, exemptions and TTL policies of `firestore.indexes.json` are there and ready, and whether Firestore's
 * planner uses the index that sums the shards.
 */

import { DEFAULT_COLLECTION, SHARDS } from "../../../core/src/index.ts";
import { pluralize } from "../format.ts";
import { PAGES } from "../setup/packaged.ts";
import { windowIndexes } from "../windowIndexes.ts";
import { deploymentsFor, variablesOf } from "./deployments.ts";
import { type CompositeIndex, type ProjectFacts, seen } from "./facts.ts";
import { errorFinding, type Finding, listed, warningFinding } from "./finding.ts";

const DEPLOY_INDEXES =
  "run `firebase deploy --only firestore:indexes` with the entries of Tally's `firestore.indexes.json`";

const WRITE_INDEXES =
  "run `npx firestore-tally init --windows <groups>`, which writes it, and `firebase deploy --only firestore:indexes`";

/** An index as users write it. */
export const nameOf = (index: Pick<CompositeIndex, "collectionGroup" | "fields">) =>
  `${index.collectionGroup} (${index.fields.map(({ fieldPath }) => fieldPath).join(", ")})`;

export function checkIndexes({ indexes, shippedIndexes, functions, target }: ProjectFacts): Finding[] {
  const [deployed, own] = [seen(indexes), seen(shippedIndexes)];
  if (!deployed || !own) return [];
  const [deployment] = deploymentsFor(seen(functions) ?? [], target);
  const parameters = (deployment && variablesOf(deployment)) ?? {};
  return [...own.indexes, ...windowIndexes(parameters)].flatMap((one) => {
    const wanted = { ...one, collectionGroup: renamed(one.collectionGroup, target.collection) };
    const state = deployed.find((index) => isSame(index, wanted))?.state;
    const name = nameOf(wanted);
    const sumsShards = wanted.collectionGroup === SHARDS;
    const deploy = own.indexes.includes(one) ? DEPLOY_INDEXES : WRITE_INDEXES;
    const effect = sumsShards
      ? "each measurement reads every shard instead of 2 documents"
      : "getTopCounters and getCounterRank fail";
    if (state === "READY") return [];
    if (state === "CREATING") {
      return [
        warningFinding(
          "index-building",
          `the index ${name} is being built; until then ${effect}`,
          "wait, and run doctor again",
        ),
      ];
    }
    const finding = sumsShards ? errorFinding : warningFinding;
    if (state === "NEEDS_REPAIR") {
      return [
        finding(
          "index-broken",
          `the index ${name} could not be built, so ${effect}`,
          `delete it in the console, then ${deploy}`,
        ),
      ];
    }
    return [finding("index-missing", `the index ${name} is missing, so ${effect}`, deploy)];
  });
}

export function checkExemptions({ fields, shippedIndexes, target }: ProjectFacts): Finding[] {
  const [deployed, own] = [seen(fields), seen(shippedIndexes)];
  if (!deployed || !own) return [];
  const indexed = own.fieldOverrides
    .filter(({ indexes }) => indexes.length === 0)
    .map((field) => ({ ...field, collectionGroup: renamed(field.collectionGroup, target.collection) }))
    .filter((wanted) => !deployed.some((field) => isSameField(field, wanted) && field.indexes === 0))
    .map(({ collectionGroup, fieldPath }) => `${collectionGroup}.${fieldPath}`);
  if (indexed.length === 0) return [];
  return [
    warningFinding(
      "fields-indexed",
      `${listed(indexed)} ${indexed.length === 1 ? "has" : "have"} single-field indexes, which cost storage and cap a counter at 500 writes a second`,
      DEPLOY_INDEXES,
    ),
  ];
}

/** The collection-group index of `tallyEntries.once`, by which a server finds what an account has counted. */
export function checkGroupIndexes({ fields, shippedIndexes }: ProjectFacts): Finding[] {
  const [deployed, own] = [seen(fields), seen(shippedIndexes)];
  if (!deployed || !own) return [];
  return own.fieldOverrides
    .filter(({ indexes }) => indexes.some(({ queryScope }) => queryScope === "COLLECTION_GROUP"))
    .filter((wanted) => !deployed.some((field) => isSameField(field, wanted) && field.hasGroupIndex))
    .map(({ collectionGroup, fieldPath }) =>
      warningFinding(
        "index-missing",
        `the collection-group index of ${collectionGroup}.${fieldPath} is missing, so undoIncrementsOf and moveIncrements fail`,
        DEPLOY_INDEXES,
      ),
    );
}

/** What a TTL policy deletes, by collection group. */
const EXPIRING: Readonly<Record<string, string>> = {
  tallyReceipts: "a receipt of each commit of a server",
  tallyHistory: "past history",
  tallyUses: "a document of each user of a rate limit",
  tallyKeys: "a document of each key of a rate limit on servers",
};

export function checkTtl({ fields, shippedIndexes }: ProjectFacts): Finding[] {
  const [deployed, own] = [seen(fields), seen(shippedIndexes)];
  if (!deployed || !own) return [];
  return own.fieldOverrides
    .filter(({ ttl }) => ttl)
    .flatMap((wanted) => {
      const state = deployed.find((field) => isSameField(field, wanted))?.ttl ?? null;
      if (state === "ACTIVE" || state === "CREATING") return [];
      const { collectionGroup, fieldPath } = wanted;
      return [
        warningFinding(
          "ttl",
          `${collectionGroup}.${fieldPath} has no working TTL policy, so ${EXPIRING[collectionGroup] ?? "a document"} stays for ever`,
          `${DEPLOY_INDEXES}; unless your app has a collection of that id: ${PAGES}/configuration.md#rules-and-indexes`,
        ),
      ];
    });
}

/** How many entries of an index an aggregation sums for the price of one read. */
const ENTRIES_PER_READ = 1_000;

export function checkPlan({ plan, indexes }: ProjectFacts): Finding[] {
  const found = seen(plan);
  if (!found) return [];
  const { used, documents, counter } = found;
  // A missing index is told once.
  if (used === null && seen(indexes)) return [];
  if (used === null) {
    return [
      errorFinding(
        "index-missing",
        `the index ${SHARDS} (shard, count, writes) is missing, so each measurement reads every shard instead of 2 documents`,
        DEPLOY_INDEXES,
      ),
    ];
  }
  const expected = Math.max(Math.ceil(documents / ENTRIES_PER_READ), 1);
  const isServed = used.indexes.some((index) => /shard\b.*\bcount\b.*\bwrites\b/.test(index));
  if (isServed && used.reads <= expected) return [];
  return [
    warningFinding(
      "plan",
      `Firestore sums the ${pluralize(documents, "shard")} of ${counter} by ${listed(used.indexes) || "no index"} for ${pluralize(used.reads, "read")}, where (shard, count, writes) takes ${expected}`,
      `${DEPLOY_INDEXES}, wait until the index is ready, and run doctor again`,
    ),
  ];
}

/** A collection group of `firestore.indexes.json`, in a deployment with another `COLLECTION`. */
function renamed(group: string, collection: string): string {
  return group === DEFAULT_COLLECTION ? collection : group;
}

function isSame(index: CompositeIndex, wanted: Omit<CompositeIndex, "state">): boolean {
  return (
    index.collectionGroup === wanted.collectionGroup &&
    index.queryScope === wanted.queryScope &&
    index.fields.length === wanted.fields.length &&
    index.fields.every(
      ({ fieldPath, order }, i) => fieldPath === wanted.fields[i]?.fieldPath && order === wanted.fields[i]?.order,
    )
  );
}

interface FieldName {
  readonly collectionGroup: string;
  readonly fieldPath: string;
}

function isSameField(one: FieldName, other: FieldName): boolean {
  return one.collectionGroup === other.collectionGroup && one.fieldPath === other.fieldPath;
}

/** The facts of a project in which everything is right, for the tests of the checks: each test spoils one. */

import { readFileSync } from "node:fs";
import { COUNTING_DEFAULTS, type DeclaredFunction, FUNCTIONS } from "../../functions/src/decisions.ts";
import type { CounterSample, SampledCounter } from "../src/doctor/counterFacts.ts";
import type { DeployedFunction, ProjectFacts } from "../src/doctor/facts.ts";

export const NOW = 1_700_000_000_000;

export const OWN_RULES = readFileSync("firestore.rules", "utf8");
const { indexes, fieldOverrides } = JSON.parse(readFileSync("firestore.indexes.json", "utf8"));

/** The document that triggers a function; `undefined` for one of another trigger. */
export function documentOf(
  { trigger }: DeclaredFunction,
  variables: DeployedFunction["variables"],
): string | undefined {
  if (!("path" in trigger)) return undefined;
  const { [trigger.root ?? ""]: root } = variables ?? COUNTING_DEFAULTS;
  return trigger.root === undefined ? trigger.path : `${root}/${trigger.path}`;
}

function triggerOf(document: string | undefined): DeployedFunction["trigger"] {
  return document === undefined ? null : { database: "(default)", document, region: "eur3", retries: true };
}

/** The functions of a deployment, with some fields of all or one replaced. */
export function deployed(changes: Partial<DeployedFunction> = {}, only?: string): DeployedFunction[] {
  return [...FUNCTIONS].map(([name, declared]) => ({
    name: `tally-${name}`,
    region: "europe-west1",
    state: "ACTIVE",
    runtime: "nodejs24",
    variables: { ...COUNTING_DEFAULTS, LOCATION: "europe-west1" },
    serviceAccount: "tally@demo.iam.gserviceaccount.com",
    trigger: triggerOf(documentOf(declared, changes.variables ?? COUNTING_DEFAULTS)),
    ...(only === undefined || only === name ? changes : {}),
  }));
}

/** The same with other parameters. */
export function withParameters(values: Readonly<Record<string, string>>): Pick<ProjectFacts, "functions"> {
  return {
    functions: { value: deployed({ variables: { ...COUNTING_DEFAULTS, LOCATION: "europe-west1", ...values } }) },
  };
}

/** Rules whose policy says which groups need functions, and whether there are any. */
export function withPolicy(needsFunctions: string, hasFunctions = "true"): Pick<ProjectFacts, "rules"> {
  const returning = (source: string, name: string, condition: string) =>
    source.replace(new RegExp(`(${name}\\(\\) \\{\\s+return )[^;]+`), `$1${condition}`);
  const source = returning(returning(OWN_RULES, "needsFunctions", needsFunctions), "hasFunctions", hasFunctions);
  return { rules: { value: { source } } };
}

/** A published counter with one shard, with some fields replaced. */
export function sampled(changes: Partial<SampledCounter> = {}): SampledCounter {
  return {
    id: "likes:post42",
    published: { total: 3, asOf: NOW - 90_000, nextPollAt: null, countedCollection: null, malformedShards: [] },
    numShards: null,
    hasSource: false,
    mirrored: null,
    sum: 3,
    documents: 1,
    indexed: 1,
    shards: [{ id: "0", fields: { shard: "0", count: 3, writes: 3 }, updatedAt: NOW - 95_000 }],
    drift: null,
    ...changes,
  };
}

/** A sample of some counters. */
export function sampleOf(counters: readonly SampledCounter[], changes: Partial<CounterSample> = {}) {
  return {
    counters: {
      value: { counters, isComplete: true, overdue: [], waiting: [], now: NOW, ...changes },
    },
  };
}

export function healthyFacts(changes: Partial<ProjectFacts> = {}): ProjectFacts {
  return {
    target: { project: "demo", database: "(default)", collection: "counters", emulator: null },
    shippedRules: { value: OWN_RULES },
    shippedIndexes: { value: { indexes, fieldOverrides } },
    rules: { value: { source: OWN_RULES } },
    database: { value: { locationId: "eur3", type: "FIRESTORE_NATIVE", edition: "STANDARD" } },
    declared: { value: { location: "eur3", edition: "STANDARD" } },
    suite: { value: null },
    indexes: { value: indexes.map((index: object) => ({ ...index, state: "READY" })) },
    fields: {
      value: fieldOverrides.map(({ ttl, indexes, ...field }: { ttl?: boolean; indexes: object[] }) => ({
        ...field,
        indexes: indexes.length,
        hasGroupIndex: indexes.length > 0,
        ttl: ttl ? "ACTIVE" : null,
      })),
    },
    functions: { value: deployed() },
    queue: {
      value: {
        name: "projects/demo/locations/europe-west1/queues/tally-aggregate",
        state: "RUNNING",
        maxDispatchesPerSecond: 500,
        maxConcurrentDispatches: 500,
        maxAttempts: 100,
      },
    },
    failedTasks: { value: [] },
    grants: { value: { account: "tally@demo.iam.gserviceaccount.com", roles: ["roles/editor"] } },
    sweepJob: { value: { name: "projects/demo/…/tally-sweep", state: "ENABLED", lastStatus: 0 } },
    appCheck: { value: "ENFORCED" },
    plan: {
      value: {
        counter: "views:home",
        documents: 2_500,
        used: { indexes: ["(shard ASC, count ASC, writes ASC, __name__ ASC)"], reads: 3 },
      },
    },
    ...sampleOf([sampled()]),
    regions: { value: [] },
    mirrors: { value: [] },
    reads: 10,
    ...changes,
  };
}

/**
 * What `doctor` knows about a project: facts, each a value or the reason why it could not be seen. Checks are pure functions
 * of these, so a check never mistakes what could not be seen for what is missing.
 *
 * Each fact names the API it comes from. The shapes are those of the API's reference, cut down to the fields that are used.
 */
import type { DatabaseTarget } from "../databaseTarget.ts";
import type { CounterSample } from "./counterFacts.ts";

export type Fact<T> = { readonly value: T } | { readonly unseen: string };

export interface ProjectFacts {
  readonly target: DatabaseTarget;
  /** The rules of this version (`firestore.rules` of the package). */
  readonly shippedRules: Fact<string>;
  /** The indexes of this version (`firestore.indexes.json` of the package). */
  readonly shippedIndexes: Fact<ShippedIndexes>;
  readonly rules: Fact<DeployedRules | null>;
  readonly database: Fact<Database | null>;
  /** What the nearest `firebase.json` says about the database; `null` if it says nothing. */
  readonly declared: Fact<DeclaredDatabase | null>;
  readonly indexes: Fact<readonly CompositeIndex[]>;
  readonly fields: Fact<readonly FieldConfig[]>;
  /** Of an emulator; `null` in production. */
  readonly suite: Fact<EmulatorSuite | null>;
  readonly functions: Fact<readonly DeployedFunction[]>;
  readonly queue: Fact<Queue | null>;
  /** Tasks whose last attempt failed, the oldest of each queue first; none of those beyond a queue's first page. */
  readonly failedTasks: Fact<readonly FailedTask[]>;
  readonly grants: Fact<Grants>;
  readonly sweepJob: Fact<Job | null>;
  readonly appCheck: Fact<Enforcement>;
  readonly plan: Fact<QueryPlan>;
  readonly counters: Fact<CounterSample>;
  /** The exchanges of these counters between this region and the others; empty without other regions. */
  readonly regions: Fact<readonly Exchange[]>;
  /** Of some documents that mirror totals. */
  readonly mirrors: Fact<readonly MirroredTotal[]>;
  /** What reading them has cost. */
  readonly reads: number;
}

/** What a document shows of a counter, and the published total, at one instant. */
export interface MirroredTotal {
  readonly counter: string;
  readonly document: string;
  readonly field: string;
  readonly shown: unknown;
  readonly total: unknown;
}

/** What the Firebase CLI deploys (https://firebase.google.com/docs/reference/firestore/indexes). */
export interface ShippedIndexes {
  readonly indexes: readonly Omit<CompositeIndex, "state">[];
  readonly fieldOverrides: readonly {
    readonly collectionGroup: string;
    readonly fieldPath: string;
    readonly ttl?: boolean;
    /** Without one, the field is exempt. */
    readonly indexes: readonly { readonly queryScope?: string }[];
  }[];
}

/** The security rules in force; `null`: none were ever released for this database. */
export interface DeployedRules {
  readonly source: string;
}

/** https://firebase.google.com/docs/firestore/reference/rest/v1/projects.databases */
export interface Database {
  readonly locationId: string;
  readonly type: string;
  /** `STANDARD` or `ENTERPRISE`. */
  readonly edition: string;
}

/** The Firebase CLI creates a missing database in this location and edition (https://firebase.google.com/docs/cli#the_firebasejson_file). */
export interface DeclaredDatabase {
  readonly location: string | null;
  /** `STANDARD` or `ENTERPRISE`. */
  readonly edition: string | null;
}

/** The Emulator Suite to which a Firestore emulator belongs. */
export interface EmulatorSuite {
  /** `host:port` of its hub; `null` if no hub that was asked lists the emulator. */
  readonly hub: string | null;
  /** The hubs that were asked. */
  readonly asked: readonly string[];
  /** The project that it runs; `null` if that could not be seen. */
  readonly project: string | null;
  /** `host:port` of its Functions emulator; `null` without one. */
  readonly functions: string | null;
}

/** https://firebase.google.com/docs/firestore/reference/rest/v1/projects.databases.collectionGroups.indexes */
export interface CompositeIndex {
  readonly collectionGroup: string;
  readonly queryScope: string;
  /** Without the `__name__` that Firestore appends. */
  readonly fields: readonly IndexField[];
  /** `CREATING`, `READY` or `NEEDS_REPAIR`. */
  readonly state: string;
}

export interface IndexField {
  readonly fieldPath: string;
  readonly order?: string | undefined;
}

/** https://firebase.google.com/docs/firestore/reference/rest/v1/projects.databases.collectionGroups.fields */
export interface FieldConfig {
  readonly collectionGroup: string;
  readonly fieldPath: string;
  /** How many single-field indexes it has; `null` if it has those of the default. */
  readonly indexes: number | null;
  /** Whether one of them is over all collections of the id. */
  readonly hasGroupIndex: boolean;
  /** `CREATING`, `ACTIVE` or `NEEDS_REPAIR`; `null` without a TTL policy. */
  readonly ttl: string | null;
}

/**
 * A function of the project, Tally's or not.
 * https://cloud.google.com/functions/docs/reference/rest/v2/projects.locations.functions#Function
 */
export interface DeployedFunction {
  readonly name: string;
  readonly region: string;
  /** `ACTIVE`, `FAILED`, `DEPLOYING`, `DELETING` or `UNKNOWN`. */
  readonly state: string;
  /** Such as `nodejs24`; `null` if it could not be seen. */
  readonly runtime: string | null;
  /** Environment variables, among them the parameters; `null` if they could not be seen. */
  readonly variables: Readonly<Record<string, string>> | null;
  readonly serviceAccount: string | null;
  readonly trigger: EventTrigger | null;
}

/** https://cloud.google.com/functions/docs/reference/rest/v2/projects.locations.functions#EventTrigger */
export interface EventTrigger {
  readonly database: string | null;
  readonly document: string | null;
  /** Where the events come from; `null` if it could not be seen. */
  readonly region: string | null;
  /** Whether a failed event is delivered again; `null` if it could not be seen. */
  readonly retries: boolean | null;
}

/** https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations.queues#Queue */
export interface Queue {
  readonly name: string;
  /** `RUNNING`, `PAUSED` or `DISABLED`. */
  readonly state: string;
  readonly maxDispatchesPerSecond: number | null;
  readonly maxConcurrentDispatches: number | null;
  readonly maxAttempts: number | null;
}

/** https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations.queues.tasks */
export interface FailedTask {
  /** The function that the task calls, which has the queue's name. */
  readonly called: DeployedFunction;
  readonly attempts: number;
  /** How the last attempt ended: a code of https://cloud.google.com/tasks/docs/reference/rpc/google.rpc#code, such as 7, and its message. */
  readonly code: number;
  readonly message: string;
}

/**
 * The roles of the account that the functions run as, from the policies of the project, the queue and the account itself
 * (https://cloud.google.com/iam/docs/reference/rest/v1/Policy).
 */
export interface Grants {
  readonly account: string;
  readonly roles: readonly string[];
}

/** https://cloud.google.com/scheduler/docs/reference/rest/v1/projects.locations.jobs#Job */
export interface Job {
  readonly name: string;
  /** `ENABLED`, `PAUSED`, `DISABLED` or `UPDATE_FAILED`. */
  readonly state: string;
  /** The status code of the last attempt; 0 for success, `null` if there was none. */
  readonly lastStatus: number | null;
}

/** https://firebase.google.com/docs/reference/appcheck/rest/v1/projects.services#enforcementmode */
export type Enforcement = "OFF" | "UNENFORCED" | "ENFORCED";

/**
 * How Firestore sums the shards of one counter, by Query Explain
 * (https://firebase.google.com/docs/firestore/query-explain); `null` if the index is missing.
 */
export interface QueryPlan {
  readonly counter: string;
  readonly documents: number;
  readonly used: {
    /** Such as `(shard ASC, count ASC, writes ASC, __name__ ASC)`. */
    readonly indexes: readonly string[];
    readonly reads: number;
  } | null;
}

/** What a region has counted, on its way to another one. */
export interface Exchange {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** `behind`: it has not arrived long after it was due. `lost`: more has arrived than the region itself has now. */
  readonly trouble: "behind" | "lost" | null;
}

/** Reads a fact. An error becomes the reason why it could not be seen. */
export async function factOf<T>(read: () => Promise<T>, explain: (error: unknown) => string): Promise<Fact<T>> {
  try {
    return { value: await read() };
  } catch (error) {
    return { unseen: explain(error) };
  }
}

/** The value of a fact; `undefined` if it could not be seen. */
export function seen<T>(fact: Fact<T>): T | undefined {
  return "value" in fact ? fact.value : undefined;
}

/**
 * Reads the facts of a project in production, each from one of Google's APIs.
 *
 * The paths and the shapes are those of the APIs' references, and the tests answer in these shapes. No test has met the APIs
 * themselves.
 */
import type { DatabaseTarget } from "../databaseTarget.ts";
import { type Deployment, deploymentsFor } from "./deployments.ts";
import {
  type CompositeIndex,
  type Database,
  type DeployedFunction,
  type DeployedRules,
  type Enforcement,
  type Fact,
  type FieldConfig,
  factOf,
  type ProjectFacts,
  seen,
} from "./facts.ts";
import { type GoogleApis, reasonOf } from "./googleApis.ts";
import { readFailedTasks, readGrants, readQueue, readSweepJob } from "./readScheduling.ts";

export type DeployedFacts = Omit<
  ProjectFacts,
  "target" | "shippedRules" | "shippedIndexes" | "declared" | "plan" | "counters" | "regions" | "mirrors" | "reads"
>;

const RULES = "firebaserules.googleapis.com";
const FIRESTORE = "firestore.googleapis.com";
const FUNCTIONS = "cloudfunctions.googleapis.com";

export async function readApis(apis: GoogleApis, target: DatabaseTarget): Promise<DeployedFacts> {
  const read = <T>(from: () => Promise<T>, permission?: string) => factOf(from, (error) => reasonOf(error, permission));
  const [rules, database, indexes, fields, functions, appCheck] = await Promise.all([
    read(() => readRules(apis, target)),
    read(() => readDatabase(apis, target)),
    read(() => readIndexes(apis, target)),
    read(() => readFields(apis, target)),
    read(() => readFunctions(apis, target)),
    read(() => readAppCheck(apis, target)),
  ]);
  const [deployment] = deploymentsFor(seen(functions) ?? [], target);
  type Read<T> = (apis: GoogleApis, target: DatabaseTarget, deployment: Deployment) => Promise<T>;
  const ofDeployment = async <T>(from: Read<T>, permission?: string): Promise<Fact<T>> =>
    deployment
      ? await read(() => from(apis, target, deployment), permission)
      : { unseen: "no functions of Tally were found for it" };
  const [queue, failedTasks, grants, sweepJob] = await Promise.all([
    ofDeployment(readQueue, "cloudtasks.queues.get"),
    ofDeployment(readFailedTasks, "cloudtasks.tasks.list"),
    ofDeployment(readGrants),
    ofDeployment(readSweepJob),
  ]);
  const suite = { value: null };
  return {
    ...{ rules, database, suite, indexes, fields, functions, queue, failedTasks, grants, sweepJob },
    appCheck,
  };
}

/**
 * The release of the database names the ruleset in force.
 * https://firebase.google.com/docs/reference/rules/rest/v1/projects.releases/get and …/projects.rulesets/get
 */
async function readRules(apis: GoogleApis, { project, database }: DatabaseTarget): Promise<DeployedRules | null> {
  // The Firebase CLI releases the rules of the default database without its id, gcloud with it.
  const names =
    database === "(default)" ? ["cloud.firestore", "cloud.firestore/(default)"] : [`cloud.firestore/${database}`];
  for (const name of names) {
    const release = await apis.find<{ rulesetName: string }>(RULES, `v1/projects/${project}/releases/${name}`);
    if (!release) continue;
    type Ruleset = { source: { files: { content: string }[] } };
    const { source } = await apis.get<Ruleset>(RULES, `v1/${release.rulesetName}`);
    return { source: source.files.map(({ content }) => content).join("\n") };
  }
  return null;
}

/** https://firebase.google.com/docs/firestore/reference/rest/v1/projects.databases/get */
async function readDatabase(apis: GoogleApis, { project, database }: DatabaseTarget): Promise<Database | null> {
  type Found = Omit<Database, "edition"> & { readonly databaseEdition?: string };
  const found = await apis.find<Found>(FIRESTORE, `v1/projects/${project}/databases/${database}`);
  if (!found) return null;
  const { locationId, type, databaseEdition: edition = "STANDARD" } = found;
  return { locationId, type, edition };
}

/** https://firebase.google.com/docs/firestore/reference/rest/v1/projects.databases.collectionGroups.indexes/list */
async function readIndexes(apis: GoogleApis, { project, database }: DatabaseTarget): Promise<CompositeIndex[]> {
  type Index = Omit<CompositeIndex, "collectionGroup"> & { name: string };
  const path = `v1/projects/${project}/databases/${database}/collectionGroups/-/indexes`;
  const indexes = await apis.list<Index>(FIRESTORE, path, "indexes");
  return indexes.map(({ name, queryScope, fields, state }) => ({
    collectionGroup: segmentAfter(name, "collectionGroups"),
    queryScope,
    fields: fields.filter(({ fieldPath }) => fieldPath !== "__name__"),
    state,
  }));
}

/**
 * Fields with an index configuration of their own, or a TTL policy.
 * https://firebase.google.com/docs/firestore/reference/rest/v1/projects.databases.collectionGroups.fields/list
 */
async function readFields(apis: GoogleApis, { project, database }: DatabaseTarget): Promise<FieldConfig[]> {
  interface Field {
    readonly name: string;
    readonly indexConfig?: {
      readonly indexes?: readonly { readonly queryScope?: string }[];
      readonly usesAncestorConfig?: boolean;
    };
    readonly ttlConfig?: { readonly state: string };
  }
  const path = `v1/projects/${project}/databases/${database}/collectionGroups/-/fields`;
  const filter = "indexConfig.usesAncestorConfig=false OR ttlConfig:*";
  const fields = await apis.list<Field>(FIRESTORE, path, "fields", { filter });
  return fields.map(({ name, indexConfig, ttlConfig }) => ({
    collectionGroup: segmentAfter(name, "collectionGroups"),
    fieldPath: segmentAfter(name, "fields"),
    indexes: indexConfig && !indexConfig.usesAncestorConfig ? (indexConfig.indexes?.length ?? 0) : null,
    hasGroupIndex: indexConfig?.indexes?.some(({ queryScope }) => queryScope === "COLLECTION_GROUP") ?? false,
    ttl: ttlConfig?.state ?? null,
  }));
}

/**
 * The functions of every region. Parameters are environment variables, as the Firebase CLI deploys them
 * (https://firebase.google.com/docs/functions/config-env).
 * https://cloud.google.com/functions/docs/reference/rest/v2/projects.locations.functions/list
 */
async function readFunctions(apis: GoogleApis, { project }: DatabaseTarget): Promise<DeployedFunction[]> {
  interface Function {
    readonly name: string;
    readonly state?: string;
    readonly buildConfig?: { readonly runtime?: string };
    readonly serviceConfig?: {
      readonly environmentVariables?: Readonly<Record<string, string>>;
      readonly serviceAccountEmail?: string;
    };
    readonly eventTrigger?: {
      readonly triggerRegion?: string;
      readonly eventFilters?: readonly { readonly attribute: string; readonly value: string }[];
      readonly retryPolicy?: string;
    };
  }
  const functions = await apis.list<Function>(FUNCTIONS, `v2/projects/${project}/locations/-/functions`, "functions");
  return functions.map(({ name, state, buildConfig, serviceConfig, eventTrigger }) => {
    const filter = (attribute: string) =>
      eventTrigger?.eventFilters?.find((one) => one.attribute === attribute)?.value ?? null;
    return {
      name: segmentAfter(name, "functions"),
      region: segmentAfter(name, "locations"),
      state: state ?? "UNKNOWN",
      runtime: buildConfig?.runtime ?? null,
      variables: serviceConfig?.environmentVariables ?? null,
      serviceAccount: serviceConfig?.serviceAccountEmail ?? null,
      trigger: eventTrigger
        ? {
            database: filter("database"),
            document: filter("document"),
            region: eventTrigger.triggerRegion ?? null,
            retries: eventTrigger.retryPolicy === "RETRY_POLICY_RETRY",
          }
        : null,
    };
  });
}

/** https://firebase.google.com/docs/reference/appcheck/rest/v1/projects.services/get */
async function readAppCheck(apis: GoogleApis, { project }: DatabaseTarget): Promise<Enforcement> {
  const path = `v1/projects/${project}/services/firestore.googleapis.com`;
  const service = await apis.get<{ enforcementMode?: Enforcement }>("firebaseappcheck.googleapis.com", path);
  return service.enforcementMode ?? "OFF";
}

/** The segment of a resource name behind another: `shards` of `…/collectionGroups/shards/indexes/CICA`. */
function segmentAfter(name: string, segment: string): string {
  const segments = name.split("/");
  return segments[segments.indexOf(segment) + 1] ?? "";
}

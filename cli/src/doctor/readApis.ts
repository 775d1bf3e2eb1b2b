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
  type Grants,
  type Job,
  type ProjectFacts,
  type Queue,
  seen,
} from "./facts.ts";
import { type GoogleApis, type Policy, reasonOf } from "./googleApis.ts";

export type DeployedFacts = Omit<ProjectFacts, "target" | "ownRules" | "ownIndexes" | "plan" | "counters" | "reads">;

const RULES = "firebaserules.googleapis.com";
const FIRESTORE = "firestore.googleapis.com";
const FUNCTIONS = "cloudfunctions.googleapis.com";
const TASKS = "cloudtasks.googleapis.com";

export async function readApis(apis: GoogleApis, target: DatabaseTarget): Promise<DeployedFacts> {
  const read = <T>(from: () => Promise<T>) => factOf(from, reasonOf);
  const [rules, database, indexes, fields, functions, appCheck] = await Promise.all([
    read(() => readRules(apis, target)),
    read(() => readDatabase(apis, target)),
    read(() => readIndexes(apis, target)),
    read(() => readFields(apis, target)),
    read(() => readFunctions(apis, target)),
    read(() => readAppCheck(apis, target)),
  ]);
  const [deployment] = deploymentsFor(seen(functions) ?? [], target);
  const ofDeployment = async <T>(from: (deployment: Deployment) => Promise<T>): Promise<Fact<T>> =>
    deployment ? await read(() => from(deployment)) : { unseen: "no functions of Tally were found for it" };
  const [queue, grants, sweepJob] = await Promise.all([
    ofDeployment((found) => readQueue(apis, target, found)),
    ofDeployment((found) => readGrants(apis, target, found)),
    ofDeployment((found) => readSweepJob(apis, target, found)),
  ]);
  return { rules, database, indexes, fields, functions, queue, grants, sweepJob, appCheck };
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
  const found = await apis.find<Database>(FIRESTORE, `v1/projects/${project}/databases/${database}`);
  return found ? { locationId: found.locationId, type: found.type } : null;
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
    readonly indexConfig?: { readonly indexes?: readonly unknown[]; readonly usesAncestorConfig?: boolean };
    readonly ttlConfig?: { readonly state: string };
  }
  const path = `v1/projects/${project}/databases/${database}/collectionGroups/-/fields`;
  const filter = "indexConfig.usesAncestorConfig=false OR ttlConfig:*";
  const fields = await apis.list<Field>(FIRESTORE, path, "fields", { filter });
  return fields.map(({ name, indexConfig, ttlConfig }) => ({
    collectionGroup: segmentAfter(name, "collectionGroups"),
    fieldPath: segmentAfter(name, "fields"),
    indexes: indexConfig && !indexConfig.usesAncestorConfig ? (indexConfig.indexes?.length ?? 0) : null,
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

/** The queue has the name and the region of the function. */
function queueOf(project: string, { prefix, functions }: Deployment): string {
  const region = functions.get("aggregate")?.region;
  if (!region) throw new Error("the function aggregate is not deployed");
  return `projects/${project}/locations/${region}/queues/${prefix}-aggregate`;
}

/** https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations.queues/get */
async function readQueue(apis: GoogleApis, { project }: DatabaseTarget, deployment: Deployment): Promise<Queue | null> {
  interface Answer {
    readonly state?: string;
    readonly rateLimits?: { readonly maxDispatchesPerSecond?: number; readonly maxConcurrentDispatches?: number };
    readonly retryConfig?: { readonly maxAttempts?: number };
  }
  const name = queueOf(project, deployment);
  const queue = await apis.find<Answer>(TASKS, `v2/${name}`);
  if (!queue) return null;
  return {
    name,
    state: queue.state ?? "STATE_UNSPECIFIED",
    maxDispatchesPerSecond: queue.rateLimits?.maxDispatchesPerSecond ?? null,
    maxConcurrentDispatches: queue.rateLimits?.maxConcurrentDispatches ?? null,
    maxAttempts: queue.retryConfig?.maxAttempts ?? null,
  };
}

/**
 * The roles of the functions' account. If one policy cannot be read, none counts, or a role would seem to be missing.
 * https://cloud.google.com/resource-manager/reference/rest/v1/projects/getIamPolicy
 * https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations.queues/getIamPolicy
 * https://cloud.google.com/iam/docs/reference/rest/v1/projects.serviceAccounts/getIamPolicy
 * https://cloud.google.com/run/docs/reference/rest/v2/projects.locations.services/getIamPolicy
 */
async function readGrants(apis: GoogleApis, { project }: DatabaseTarget, deployment: Deployment): Promise<Grants> {
  const { prefix, functions } = deployment;
  if (prefix.startsWith("ext-")) throw new Error("the Extensions service grants them");
  const aggregate = functions.get("aggregate");
  const account = aggregate?.serviceAccount;
  if (!aggregate || !account) throw new Error("the account of the function aggregate is unknown");
  const service = `v2/projects/${project}/locations/${aggregate.region}/services/${aggregate.name}`;
  const policies = await Promise.all([
    apis.policy("cloudresourcemanager.googleapis.com", `v1/projects/${project}`),
    apis.policy(TASKS, `v2/${queueOf(project, deployment)}`),
    apis.policy("iam.googleapis.com", `v1/projects/${project}/serviceAccounts/${account}`),
    apis.policy("run.googleapis.com", service, "GET"),
  ]);
  const roles = [...new Set(policies.flatMap((policy) => rolesIn(policy, account)))];
  const own = roles.find((role) => !role.startsWith("roles/"));
  if (own) throw new Error(`${account} has a role of your own, ${own}, whose permissions were not read`);
  return { account, roles };
}

function rolesIn({ bindings = [] }: Policy, account: string): string[] {
  const members = [`serviceAccount:${account}`, "allUsers", "allAuthenticatedUsers"];
  return bindings.filter((one) => one.members?.some((member) => members.includes(member))).map(({ role }) => role);
}

/**
 * The Firebase CLI names the job after the function and its region.
 * https://cloud.google.com/scheduler/docs/reference/rest/v1/projects.locations.jobs/get
 */
async function readSweepJob(
  apis: GoogleApis,
  { project }: DatabaseTarget,
  deployment: Deployment,
): Promise<Job | null> {
  if (deployment.prefix.startsWith("ext-")) throw new Error("the Extensions service keeps it");
  const region = deployment.functions.get("sweep")?.region;
  if (!region) throw new Error("the function sweep is not deployed");
  const name = `projects/${project}/locations/${region}/jobs/firebase-schedule-${deployment.prefix}-sweep-${region}`;
  type Answer = { state?: string; lastAttemptTime?: string; status?: { code?: number } };
  const job = await apis.find<Answer>("cloudscheduler.googleapis.com", `v1/${name}`);
  if (!job) return null;
  return {
    name,
    state: job.state ?? "STATE_UNSPECIFIED",
    lastStatus: job.lastAttemptTime ? (job.status?.code ?? 0) : null,
  };
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

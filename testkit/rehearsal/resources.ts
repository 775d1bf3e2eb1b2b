/** What a deployment has created, in the words of a report. */
import { unzipSync } from "fflate";
import { type Cloud, type CloudFunction, idOf, policyOf, segmentAfter } from "./cloud.ts";

export interface FunctionSummary {
  readonly name: string;
  readonly region: string;
  readonly runtime: string;
  readonly memory: string;
  readonly instances: string;
  readonly account: string;
  /** What starts it: an event, its queue, its schedule, or a request. */
  readonly trigger: string;
}

/** All that exists afterwards, but for `changes`, `roles` and `uploads`, which are of the deployment. */
export interface Resources {
  readonly functions: readonly FunctionSummary[];
  /** Functions created, updated and deleted. */
  readonly changes: { readonly created: number; readonly updated: number; readonly deleted: number };
  readonly queues: readonly string[];
  readonly jobs: readonly string[];
  readonly topics: readonly string[];
  /** Functions that everyone on the internet may call. */
  readonly publicFunctions: readonly string[];
  /** Accounts that the CLI has created. */
  readonly createdAccounts: readonly string[];
  /** New in the project's policy, as `role: member`. */
  readonly roles: readonly string[];
  readonly apis: readonly string[];
  readonly databases: readonly string[];
  readonly indexes: number;
  /** Fields with an index configuration of their own. */
  readonly exemptions: number;
  readonly ttlPolicies: number;
  /** `database: bytes` */
  readonly rules: readonly string[];
  readonly uploads: readonly string[];
}

/** What there was before a deployment. */
export interface Snapshot {
  readonly requests: number;
  readonly uploads: number;
  readonly roles: readonly string[];
}

export function snapshotOf(cloud: Cloud): Snapshot {
  return { requests: cloud.requests.length, uploads: cloud.uploads.length, roles: rolesOf(cloud) };
}

export function resourcesOf(cloud: Cloud, before: Snapshot): Resources {
  const asked = cloud.requests.slice(before.requests).filter(({ status }) => status === 200);
  const countOf = (method: string) =>
    asked.filter(
      (one) =>
        one.method === method && one.host.startsWith("cloudfunctions.") && /\/functions(\/[^/:]+)?$/.test(one.path),
    ).length;
  const fields = [...cloud.fields.values()];
  return {
    functions: [...cloud.functions.values()].map((one) => describe(cloud, one)).toSorted(byName),
    changes: { created: countOf("POST"), updated: countOf("PATCH"), deleted: countOf("DELETE") },
    queues: [...cloud.queues.values()].map(
      ({ name, rateLimits: { maxDispatchesPerSecond, maxConcurrentDispatches }, retryConfig }) =>
        `${idOf(name)} (${segmentAfter(name, "locations")}): ${maxDispatchesPerSecond}/s, ${maxConcurrentDispatches} at a time, ${retryConfig.maxAttempts} attempts`,
    ),
    jobs: [...cloud.jobs.values()].map(
      ({ name, schedule, timeZone, httpTarget }) =>
        `${idOf(name)} (${segmentAfter(name, "locations")}): ${schedule} ${timeZone}, as ${JSON.stringify(httpTarget?.oidcToken?.serviceAccountEmail)}`,
    ),
    topics: [...cloud.topics].map(idOf),
    publicFunctions: publicFunctions(cloud).map(({ name }) => idOf(name)),
    createdAccounts: [...cloud.accounts].filter((email) => email.startsWith("firebase-fn-")),
    roles: rolesOf(cloud).filter((role) => !before.roles.includes(role)),
    apis: [...cloud.enabledApis],
    databases: [...cloud.databases.values()].map(
      ({ name, locationId, databaseEdition }) =>
        `${idOf(name)}: ${locationId}, ${databaseEdition.toLowerCase()}${idOf(name) in cloud.scenario.databases ? "" : ", created"}`,
    ),
    indexes: cloud.indexes.size,
    exemptions: fields.filter(({ indexConfig }) => indexConfig).length,
    ttlPolicies: fields.filter(({ ttlConfig }) => ttlConfig).length,
    rules: [...cloud.releases.values()].map(({ name, rulesetName }) => {
      const text = cloud.rulesets.get(rulesetName)?.source.files[0]?.content ?? "";
      return `${databaseOfRelease(name)}: ${Buffer.byteLength(text)} bytes`;
    }),
    uploads: cloud.uploads.slice(before.uploads).map((zip) => {
      const files = Object.keys(unzipSync(zip));
      return `${(zip.length / 1_000).toFixed(0)} kB, ${files.length} files: ${files.slice(0, 12).join(", ")}${files.length > 12 ? ", …" : ""}`;
    }),
  };
}

function rolesOf(cloud: Cloud): string[] {
  const { bindings } = policyOf(cloud, `projects/${cloud.project}`);
  return bindings.flatMap(({ role, members }) => members.map((member) => `${role}: ${member}`));
}

/** Functions whose service of Cloud Run lets everyone call it. */
export function publicFunctions(cloud: Cloud): CloudFunction[] {
  return [...cloud.functions.values()].filter(({ name }) =>
    policyOf(cloud, name.replace("/functions/", "/services/")).bindings.some(({ members }) =>
      members.includes("allUsers"),
    ),
  );
}

/** The CLI releases the rules of the default database without its id. */
function databaseOfRelease(name: string): string {
  return name.split("/releases/cloud.firestore/")[1] ?? "(default)";
}

function describe(cloud: Cloud, one: CloudFunction): FunctionSummary {
  const { name, buildConfig, serviceConfig } = one;
  const { minInstanceCount, maxInstanceCount } = serviceConfig;
  return {
    name: idOf(name),
    region: segmentAfter(name, "locations"),
    runtime: buildConfig.runtime,
    memory: serviceConfig.availableMemory ?? "",
    instances: `${minInstanceCount ?? 0}–${maxInstanceCount ?? "default"}`,
    account: serviceConfig.serviceAccountEmail ?? "",
    trigger: triggerOf(cloud, one),
  };
}

function triggerOf(cloud: Cloud, { name, eventTrigger, labels }: CloudFunction): string {
  if (labels?.["deployment-taskqueue"]) return "queue";
  if (labels?.["deployment-scheduled"]) return "schedule";
  if (!eventTrigger) return publicFunctions(cloud).some((one) => one.name === name) ? "request, public" : "request";
  const { eventType, eventFilters = [], pubsubTopic, triggerRegion } = eventTrigger;
  const filter = (attribute: string) => eventFilters.find((one) => one.attribute === attribute)?.value;
  const event = eventType.slice(eventType.lastIndexOf(".") + 1);
  if (pubsubTopic) return `${event} ${idOf(pubsubTopic)}`;
  return `${event} ${filter("document") ?? ""} in ${filter("database") ?? "the project"} (${triggerRegion})`;
}

const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);

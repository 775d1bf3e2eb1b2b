/**
 * What exists in the project: the state behind the answers, in the shapes of the APIs' references. A deployment changes it, and a second
 * one finds it.
 */
import type { ApiEdition, Scenario } from "./scenario.ts";

export const PROJECT_NUMBER = "123456789012";

/** https://cloud.google.com/compute/docs/access/service-accounts#default_service_account */
export const DEFAULT_ACCOUNT = `${PROJECT_NUMBER}-compute@developer.gserviceaccount.com`;

/** https://cloud.google.com/functions/docs/reference/rest/v2/projects.locations.functions#Function, cut down */
export interface CloudFunction {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly buildConfig: { readonly runtime: string; readonly entryPoint: string };
  readonly serviceConfig: {
    readonly availableMemory?: string;
    readonly availableCpu?: string;
    readonly maxInstanceRequestConcurrency?: number;
    readonly minInstanceCount?: number;
    readonly maxInstanceCount?: number;
    readonly serviceAccountEmail?: string;
    readonly environmentVariables?: Readonly<Record<string, string>>;
  };
  readonly eventTrigger?: {
    readonly eventType: string;
    readonly triggerRegion?: string;
    readonly serviceAccountEmail?: string;
    readonly retryPolicy?: string;
    readonly pubsubTopic?: string;
    readonly eventFilters?: readonly { readonly attribute: string; readonly value: string }[];
  };
}

/** https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations.queues#Queue */
export interface Queue {
  readonly name: string;
  readonly rateLimits: { readonly maxDispatchesPerSecond: number; readonly maxConcurrentDispatches: number };
  readonly retryConfig: { readonly maxAttempts?: number };
}

/** https://cloud.google.com/scheduler/docs/reference/rest/v1/projects.locations.jobs#Job */
export interface Job {
  readonly name: string;
  readonly schedule: string;
  readonly timeZone?: string;
  readonly httpTarget?: { readonly uri?: string; readonly oidcToken?: { readonly serviceAccountEmail?: string } };
}

/** https://firebase.google.com/docs/firestore/reference/rest/v1/projects.databases#Database */
export interface Database {
  readonly name: string;
  readonly locationId: string;
  readonly databaseEdition: ApiEdition;
  readonly type: string;
}

/** https://cloud.google.com/iam/docs/reference/rest/v1/Policy */
export interface Policy {
  readonly bindings: readonly { readonly role: string; readonly members: readonly string[] }[];
  readonly etag?: string;
}

/** A request of the deployment, and how it was answered. */
export interface HandledRequest {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly status: number;
  /** Of a request that was refused. */
  readonly error?: string | undefined;
}

export interface Cloud {
  readonly project: string;
  readonly scenario: Scenario;
  readonly requests: HandledRequest[];
  /** By full name, as the following. */
  readonly functions: Map<string, CloudFunction>;
  readonly queues: Map<string, Queue>;
  readonly jobs: Map<string, Job>;
  readonly topics: Set<string>;
  readonly databases: Map<string, Database>;
  readonly indexes: Map<string, Record<string, unknown>>;
  readonly fields: Map<string, { readonly indexConfig?: object | undefined; readonly ttlConfig?: object | undefined }>;
  readonly rulesets: Map<string, { readonly source: { readonly files: readonly { readonly content: string }[] } }>;
  readonly releases: Map<string, { readonly name: string; readonly rulesetName: string }>;
  readonly repositories: Map<string, Record<string, unknown>>;
  /** The policy of the project, of services and of queues; the project's has its own name, `projects/…`. */
  readonly policies: Map<string, Policy>;
  /** Emails. */
  readonly accounts: Set<string>;
  readonly enabledApis: Set<string>;
  readonly operations: Map<string, object>;
  /** The archives of functions' sources. */
  readonly uploads: Uint8Array[];
  /** What a deployment asked for that looks wrong, and that Google is not known to refuse. */
  readonly problems: Set<string>;
  /** A new id of a kind: `index-1`. */
  newId(kind: string): string;
}

export function createCloud(project: string, scenario: Scenario): Cloud {
  const counts = new Map<string, number>();
  const bindings = [{ role: "roles/owner", members: ["user:owner@example.com"] }];
  const grant = (account: string, role: string) => bindings.push({ role, members: [`serviceAccount:${account}`] });
  if (scenario.defaultAccountIsEditor) grant(DEFAULT_ACCOUNT, "roles/editor");
  for (const [account, roles] of Object.entries(scenario.accounts)) for (const role of roles) grant(account, role);
  const databases = Object.entries(scenario.databases).map(([id, database]) => {
    const name = `projects/${project}/databases/${id}`;
    return [name, { name, type: "FIRESTORE_NATIVE", databaseEdition: "STANDARD", ...database } as const] as const;
  });
  return {
    ...{ project, scenario, requests: [], uploads: [] },
    ...{ functions: new Map(), queues: new Map(), jobs: new Map(), topics: new Set() },
    ...{ indexes: new Map(), fields: new Map(), rulesets: new Map(), releases: new Map() },
    ...{ repositories: new Map(), enabledApis: new Set(), operations: new Map(), problems: new Set() },
    databases: new Map(databases),
    policies: new Map([[`projects/${project}`, { bindings, etag: "first" }]]),
    accounts: new Set([DEFAULT_ACCOUNT, ...Object.keys(scenario.accounts)]),
    newId(kind) {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      return `${kind}-${count}`;
    },
  };
}

/** The policy of a resource; without one, an empty one. */
export function policyOf(cloud: Cloud, resource: string): Policy {
  return cloud.policies.get(resource) ?? { bindings: [] };
}

/** The last segment of a resource name. */
export function idOf(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** The segment of a resource name behind another: the region behind `locations`. */
export function segmentAfter(name: string, segment: string): string {
  const segments = name.split("/");
  return segments[segments.indexOf(segment) + 1] ?? "";
}

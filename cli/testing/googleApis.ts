/**
 * A server in the place of Google's REST APIs, for `firestore-tally doctor`: a project as it is after a right deployment, in the
 * shapes of the APIs' references. A test changes one resource, and sees what is found. The references are named where the
 * resources are read, in `cli/src/doctor/readApis.ts`.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { COUNTING_DEFAULTS, FUNCTIONS } from "../../functions/src/decisions.ts";
import { documentOf } from "./healthyFacts.ts";

// biome-ignore lint/suspicious/noExplicitAny: resources of many APIs, which tests change field by field
export type Resource = any;

/** By host and path: `firestore.googleapis.com/v1/projects/…`. */
export type Resources = Record<string, Resource>;

const REGION = "us-central1";
const ACCOUNT = "123-compute@developer.gserviceaccount.com";

const RULES = "firebaserules.googleapis.com/v1";
const FIRESTORE = "firestore.googleapis.com/v1";

/** The paths of the resources that tests change. */
export function pathsOf(project: string) {
  const root = `projects/${project}`;
  const database = `${FIRESTORE}/${root}/databases/(default)`;
  const queue = `cloudtasks.googleapis.com/v2/${root}/locations/${REGION}/queues/tally-aggregate`;
  return {
    release: `${RULES}/${root}/releases/cloud.firestore`,
    ruleset: `${RULES}/${root}/rulesets/1`,
    database,
    indexes: `${database}/collectionGroups/-/indexes`,
    fields: `${database}/collectionGroups/-/fields`,
    functions: `cloudfunctions.googleapis.com/v2/${root}/locations/-/functions`,
    queue,
    tasks: `${queue}/tasks`,
    queuePolicy: `${queue}:getIamPolicy`,
    projectPolicy: `cloudresourcemanager.googleapis.com/v1/${root}:getIamPolicy`,
    accountPolicy: `iam.googleapis.com/v1/${root}/serviceAccounts/${ACCOUNT}:getIamPolicy`,
    servicePolicy: `run.googleapis.com/v2/${root}/locations/${REGION}/services/tally-aggregate:getIamPolicy`,
    job: `cloudscheduler.googleapis.com/v1/${root}/locations/${REGION}/jobs/firebase-schedule-tally-sweep-${REGION}`,
    appCheck: `firebaseappcheck.googleapis.com/v1/${root}/services/firestore.googleapis.com`,
  };
}

/** Rules as users have them: Tally's among their own. */
export function healthyRules(): string {
  const own =
    "match /posts/{post} {\n      allow read: if true;\n      allow write: if request.auth != null;\n    }\n\n";
  return readFileSync("firestore.rules", "utf8").replace("    match /counters/", `    ${own}    match /counters/`);
}

/** A project in which everything is right. */
export function healthyProject(project: string): Resources {
  const paths = pathsOf(project);
  const { indexes, fieldOverrides } = JSON.parse(readFileSync("firestore.indexes.json", "utf8"));
  const below = `projects/${project}/databases/(default)/collectionGroups`;
  const grants = (...roles: string[]) => ({
    version: 1,
    etag: "BwXhqDUN",
    bindings: roles.map((role) => ({ role, members: [`serviceAccount:${ACCOUNT}`] })),
  });
  return {
    [paths.release]: {
      name: `projects/${project}/releases/cloud.firestore`,
      rulesetName: `projects/${project}/rulesets/1`,
      createTime: "2026-01-01T00:00:00Z",
    },
    [paths.ruleset]: {
      name: `projects/${project}/rulesets/1`,
      source: { files: [{ name: "firestore.rules", content: healthyRules() }] },
    },
    [paths.database]: {
      name: `projects/${project}/databases/(default)`,
      locationId: "nam5",
      type: "FIRESTORE_NATIVE",
      databaseEdition: "STANDARD",
    },
    [paths.indexes]: {
      indexes: indexes.map((index: Resource, i: number) => ({
        name: `${below}/${index.collectionGroup}/indexes/CICA${i}`,
        queryScope: index.queryScope,
        fields: [...index.fields, { fieldPath: "__name__", order: index.fields.at(-1).order }],
        state: "READY",
        density: "SPARSE_ALL",
      })),
    },
    [paths.fields]: {
      fields: [
        { name: `${below}/__default__/fields/*`, indexConfig: { indexes: [{}, {}, {}] } },
        ...fieldOverrides.map(({ collectionGroup, fieldPath, ttl, indexes }: Resource) => ({
          name: `${below}/${collectionGroup}/fields/${fieldPath}`,
          indexConfig: { ancestorField: `${below}/__default__/fields/*`, ...(indexes.length > 0 && { indexes }) },
          ...(ttl && { ttlConfig: { state: "ACTIVE" } }),
        })),
      ],
    },
    [paths.functions]: { functions: healthyFunctions(project) },
    [paths.queue]: {
      name: paths.queue.replace("cloudtasks.googleapis.com/v2/", ""),
      rateLimits: { maxDispatchesPerSecond: 500, maxBurstSize: 100, maxConcurrentDispatches: 500 },
      retryConfig: { maxAttempts: 100, minBackoff: "1s", maxBackoff: "900s", maxDoublings: 16 },
      state: "RUNNING",
    },
    [paths.tasks]: { tasks: [waitingTask(), attemptedTask(1, 14, "HTTP status code 503"), runningTask()] },
    [paths.projectPolicy]: grants("roles/datastore.user", "roles/cloudtasks.enqueuer", "roles/eventarc.eventReceiver"),
    [paths.queuePolicy]: { etag: "ACAB" },
    [paths.accountPolicy]: grants("roles/iam.serviceAccountUser"),
    [paths.servicePolicy]: grants("roles/run.invoker"),
    [paths.job]: {
      name: `projects/${project}/locations/${REGION}/jobs/firebase-schedule-tally-sweep-${REGION}`,
      schedule: "every 5 minutes",
      timeZone: "UTC",
      state: "ENABLED",
      lastAttemptTime: "2026-01-01T00:05:00Z",
      status: {},
    },
    [paths.appCheck]: {
      name: "projects/123/services/firestore.googleapis.com",
      enforcementMode: "ENFORCED",
    },
  };
}

/** A task that is not due yet. */
function waitingTask(): Resource {
  return { name: "waiting", scheduleTime: "2026-01-01T00:09:00Z", createTime: "2026-01-01T00:08:00Z", view: "BASIC" };
}

/** The status of an attempt that was not answered yet means nothing. */
function runningTask(): Resource {
  return {
    ...attemptedTask(9, 7, ""),
    lastAttempt: { dispatchTime: "2026-01-01T00:08:00Z", responseStatus: { code: 7 } },
  };
}

/** A task whose last attempt has failed, as https://github.com/firebase/functions-samples/issues/1143 shows one. */
export function attemptedTask(attempts: number, code: number, message: string): Resource {
  const [dispatchTime, responseTime] = ["2026-01-01T00:08:00Z", "2026-01-01T00:08:01Z"];
  return {
    ...{ name: "attempted", scheduleTime: "2026-01-01T00:09:00Z", createTime: "2026-01-01T00:00:00Z", view: "BASIC" },
    ...{ dispatchCount: attempts, responseCount: attempts, firstAttempt: { dispatchTime } },
    lastAttempt: { scheduleTime: dispatchTime, dispatchTime, responseTime, responseStatus: { code, message } },
  };
}

/** The parameters as the Firebase CLI deploys them: as environment variables. */
const PARAMETERS = {
  ...COUNTING_DEFAULTS,
  LOCATION: REGION,
  SERVICE_ACCOUNT: "",
  MIN_INSTANCES: "0",
  MAX_INSTANCES: "10",
};

function healthyFunctions(project: string): Resource[] {
  return [...FUNCTIONS].map(([name, declared]) => ({
    name: `projects/${project}/locations/${REGION}/functions/tally-${name}`,
    environment: "GEN_2",
    state: "ACTIVE",
    buildConfig: { runtime: "nodejs24", entryPoint: `tally.${name}` },
    serviceConfig: {
      service: `projects/${project}/locations/${REGION}/services/tally-${name}`,
      environmentVariables: { ...PARAMETERS, FIREBASE_CONFIG: "{}", FUNCTION_REGION: REGION },
      serviceAccountEmail: ACCOUNT,
    },
    labels: { "firebase-functions-codebase": "tally" },
    ...("path" in declared.trigger && {
      eventTrigger: {
        triggerRegion: "nam5",
        eventType: `google.cloud.firestore.document.v1.${declared.trigger.on}`,
        eventFilters: [
          { attribute: "database", value: "(default)" },
          { attribute: "namespace", value: "(default)" },
          { attribute: "document", value: documentOf(declared, PARAMETERS), operator: "match-path-pattern" },
        ],
        serviceAccountEmail: ACCOUNT,
        retryPolicy: "RETRY_POLICY_RETRY",
      },
    }),
  }));
}

export interface GoogleApis {
  /** For the variable `TALLY_GOOGLE_APIS`. */
  readonly address: string;
  /** What is served; tests replace resources. `null` is answered as forbidden, a missing one as not found. */
  resources: Resources;
  /** Requests that were answered, such as `GET firestore.googleapis.com/v1/…`. */
  readonly requests: string[];
  close(): Promise<void>;
}

export async function serveGoogleApis(resources: Resources): Promise<GoogleApis> {
  const requests: string[] = [];
  const apis = { resources, requests };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "", "http://localhost").pathname.slice(1));
    requests.push(`${request.method} ${path}`);
    const resource = apis.resources[path];
    const status = resource === undefined ? 404 : resource === null ? 403 : 200;
    const [code, message] =
      status === 404 ? ["NOT_FOUND", "not found"] : ["PERMISSION_DENIED", "The caller does not have permission"];
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(status === 200 ? resource : { error: { code: status, message, status: code } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(apis, {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  });
}

/**
 * What looks wrong after a deployment: what was refused, what is missing beside a function, what differs from `firebase.json`, and what
 * `doctor` finds of Tally.
 */
import { strFromU8, unzipSync } from "fflate";
import { databaseOf, firestoreEntries } from "../../cli/src/firestoreEntries.ts";
import type { FirebaseJson } from "../../cli/src/nearestFirebaseJson.ts";
import { isEmail } from "../../functions/src/decisions.ts";
import { type Cloud, type HandledRequest, idOf, policyOf, segmentAfter } from "./cloud.ts";
import { readFirebaseJson } from "./firebaseJson.ts";
import type { Snapshot } from "./resources.ts";
import { tallyProblems } from "./tallyProblems.ts";

export interface Run {
  readonly exitCode: number;
  readonly printed: string;
  readonly before: Snapshot;
}

/** @param folder  of the app */
export async function problemsOf(cloud: Cloud, folder: string, { exitCode, printed, before }: Run): Promise<string[]> {
  const json = readFirebaseJson(folder);
  const failure = exitCode === 0 ? [] : [`the deployment failed: ${errorIn(printed)}`];
  return [
    ...failure,
    ...cloud.problems,
    ...cloud.requests.slice(before.requests).filter(isRefused).map(refusal),
    ...missingQueuesAndJobs(cloud),
    ...jobProblems(cloud),
    ...cloud.uploads.slice(before.uploads).flatMap(missingTarballs),
    ...missingDatabases(cloud, json),
    ...(await tallyProblems(cloud, json)),
  ];
}

/** The CLI's error, then its warnings, which may tell the cause. The one about the token is the rehearsal's. */
function errorIn(printed: string): string {
  const lines = printed.split("\n");
  const warnings = lines.filter((line) => line.startsWith("⚠") && !line.includes("FIREBASE_TOKEN"));
  const [, message] = /\nError: ([\s\S]+?)(\n\n|$)/.exec(printed) ?? [];
  const last = (message ?? printed.trim().split("\n").slice(-3).join("\n")).trim();
  const thrown = lines.filter((line) => /^\w*Error: /.test(line) && !line.endsWith(last.split("\n")[0] as string));
  return [...warnings.map((line) => line.replace(/^⚠\s+/, "")), ...thrown, last].join("\n");
}

/** Of a resource that may be missing or exist, the CLI asks first; it creates topics and releases of rules without. */
function isRefused({ method, host, status }: HandledRequest): boolean {
  if (status < 400 || method === "GET") return false;
  return !(status === 409 && host.startsWith("pubsub.")) && !(status === 404 && host.startsWith("firebaserules."));
}

function refusal({ method, host, path, status, error }: HandledRequest): string {
  return `${host} refuses ${method} ${path} with ${status}: ${error}`;
}

/** The labels are set by `functionFromEndpoint` in firebase-tools/lib/gcp/cloudfunctionsv2.js. */
function missingQueuesAndJobs(cloud: Cloud): string[] {
  return [...cloud.functions.values()].flatMap(({ name, labels = {} }) => {
    const [id, region] = [idOf(name), segmentAfter(name, "locations")];
    const at = name.replace(/\/functions\/.*/, "");
    // `scheduleIdForFunction` in firebase-tools/lib/deploy/functions/backend.js
    const job = `${at}/jobs/firebase-schedule-${id}-${region}`;
    const codebase = labels["firebase-functions-codebase"] ?? "default";
    // Of functions that are not named the CLI skips unchanged ones, with their queues: `toSkipPredicate` in
    // firebase-tools/lib/deploy/functions/release/planner.js
    const remedy = `deploy it with --only functions:${codebase}`;
    if (labels["deployment-taskqueue"] && !cloud.queues.has(`${at}/queues/${id}`))
      return [`${id} has no queue; ${remedy}`];
    if (labels["deployment-scheduled"] && !cloud.jobs.has(job)) return [`${id} has no job; ${remedy}`];
    return [];
  });
}

/** A job calls a function in the name of an account, which needs the role on the service or in the project. */
function jobProblems(cloud: Cloud): string[] {
  const project = policyOf(cloud, `projects/${cloud.project}`).bindings;
  return [...cloud.jobs.values()].flatMap(({ name, httpTarget }) => {
    const account = httpTarget?.oidcToken?.serviceAccountEmail;
    // The reference asks for an account's email. What Cloud Scheduler answers to another text is not known.
    if (httpTarget?.oidcToken && !isEmail(account ?? ""))
      return [
        `${idOf(name)} calls as ${JSON.stringify(account)}, which is not an email. Cloud Scheduler may refuse the job or never run it`,
      ];
    // `scheduleIdForFunction`, as above
    const [, id] = /\/jobs\/firebase-schedule-(.+)$/.exec(name) ?? [];
    const service = id?.replace(`-${segmentAfter(name, "locations")}`, "");
    const bindings = [...policyOf(cloud, name.replace(/\/jobs\/.+/, `/services/${service}`)).bindings, ...project];
    const mayCall = bindings.some(
      ({ role, members }) => INVOKERS.includes(role) && members.includes(`serviceAccount:${account}`),
    );
    return !service || !account || mayCall
      ? []
      : [`${idOf(name)} calls as ${account}, which lacks roles/run.invoker for it`];
  });
}

const INVOKERS = ["roles/run.invoker", "roles/run.admin", "roles/editor", "roles/owner"];

/** Cloud Build installs what is in the upload. A tarball that a `file:` names must be in it. */
function missingTarballs(zip: Uint8Array): string[] {
  const files = unzipSync(zip, { filter: ({ name }) => !name.includes("/") });
  const { dependencies = {} } = files["package.json"] ? JSON.parse(strFromU8(files["package.json"])) : {};
  const tarballs = Object.values<string>(dependencies).flatMap((one) => /^file:(.+\.tgz)$/.exec(one)?.[1] ?? []);
  return tarballs
    .filter((path) => !files[path.replace(/^\.\//, "")])
    .map((path) => `the build cannot install ${path}, which the upload lacks`);
}

/** The CLI creates a missing database: the first of a list only. */
function missingDatabases(cloud: Cloud, json: FirebaseJson | undefined): string[] {
  return firestoreEntries(json)
    .flatMap((entry) => databaseOf(entry) ?? [])
    .filter((database) => !cloud.databases.has(`projects/${cloud.project}/databases/${database}`))
    .map((database) => `the database ${database} of firebase.json does not exist`);
}

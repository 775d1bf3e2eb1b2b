/** Reads how measurements are scheduled: the task queue, the roles of the functions' account, the job of the sweep. */
import type { DatabaseTarget } from "../databaseTarget.ts";
import { type Deployment, variablesOf } from "./deployments.ts";
import type { DeployedFunction, FailedTask, Grants, Job, Queue } from "./facts.ts";
import type { GoogleApis, Policy } from "./googleApis.ts";

const TASKS = "cloudtasks.googleapis.com";

/** The queue has the name and the region of the function. */
function queueOf(project: string, called?: DeployedFunction): string {
  if (!called) throw new Error("the function aggregate is not deployed");
  return `projects/${project}/locations/${called.region}/queues/${called.name}`;
}

/** https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations.queues/get */
export async function readQueue(
  apis: GoogleApis,
  { project }: DatabaseTarget,
  deployment: Deployment,
): Promise<Queue | null> {
  interface Answer {
    readonly state?: string;
    readonly rateLimits?: { readonly maxDispatchesPerSecond?: number; readonly maxConcurrentDispatches?: number };
    readonly retryConfig?: { readonly maxAttempts?: number };
  }
  const name = queueOf(project, deployment.functions.get("aggregate"));
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
 * The first page of each queue has 1,000 tasks, in any order. A task without `responseTime` was never answered.
 * https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations.queues.tasks/list
 */
export async function readFailedTasks(
  apis: GoogleApis,
  { project }: DatabaseTarget,
  { functions }: Deployment,
): Promise<FailedTask[]> {
  interface Task {
    readonly createTime: string;
    readonly dispatchCount?: number;
    readonly lastAttempt?: {
      readonly responseTime?: string;
      readonly responseStatus?: { readonly code?: number; readonly message?: string };
    };
  }
  const failedTasks = (["aggregate", "merge", "exchange"] as const).map(async (name) => {
    const called = functions.get(name);
    const page = called && (await apis.find<{ tasks?: Task[] }>(TASKS, `v2/${queueOf(project, called)}/tasks`));
    const tasks = (page?.tasks ?? []).toSorted((a, b) => Date.parse(a.createTime) - Date.parse(b.createTime));
    return tasks.flatMap(({ dispatchCount: attempts = 0, lastAttempt: { responseTime, responseStatus } = {} }) => {
      const { code = 0, message = "" } = responseStatus ?? {};
      return called && responseTime && code !== 0 ? [{ called, attempts, code, message }] : [];
    });
  });
  return (await Promise.all(failedTasks)).flat();
}

/**
 * The roles of the functions' account. If one policy cannot be read, none counts, or a role would seem to be missing.
 * https://cloud.google.com/resource-manager/reference/rest/v1/projects/getIamPolicy
 * https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations.queues/getIamPolicy
 * https://cloud.google.com/iam/docs/reference/rest/v1/projects.serviceAccounts/getIamPolicy
 * https://cloud.google.com/run/docs/reference/rest/v2/projects.locations.services/getIamPolicy
 * https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.topics/getIamPolicy
 */
export async function readGrants(
  apis: GoogleApis,
  { project }: DatabaseTarget,
  deployment: Deployment,
): Promise<Grants> {
  const { prefix, functions } = deployment;
  if (prefix.startsWith("ext-")) throw new Error("the Extensions service grants them");
  const aggregate = functions.get("aggregate");
  const account = aggregate?.serviceAccount;
  if (!aggregate || !account) throw new Error("the account of the function aggregate is unknown");
  const service = `v2/projects/${project}/locations/${aggregate.region}/services/${aggregate.name}`;
  const topic = variablesOf(deployment)?.EVENTS_TOPIC;
  const policies = await Promise.all([
    apis.policy("cloudresourcemanager.googleapis.com", `v1/projects/${project}`),
    apis.policy(TASKS, `v2/${queueOf(project, aggregate)}`),
    apis.policy("iam.googleapis.com", `v1/projects/${project}/serviceAccounts/${account}`),
    apis.policy("run.googleapis.com", service, "GET"),
    topic ? topicPolicy(apis, `v1/projects/${project}/topics/${topic}`) : {},
  ]);
  const roles = [...new Set(policies.flatMap((policy) => rolesIn(policy, account)))];
  const own = roles.find((role) => !role.startsWith("roles/"));
  if (own) throw new Error(`${account} has a role of your own, ${own}, whose permissions were not read`);
  return { account, roles };
}

/** The policy of a topic. One that cannot be read hides no other role that is missing: its own is taken for granted. */
async function topicPolicy(apis: GoogleApis, path: string): Promise<Policy> {
  const granted = { bindings: [{ role: "roles/pubsub.publisher", members: ["allUsers"] }] };
  return await apis.policy("pubsub.googleapis.com", path, "GET").catch(() => granted);
}

function rolesIn({ bindings = [] }: Policy, account: string): string[] {
  const members = [`serviceAccount:${account}`, "allUsers", "allAuthenticatedUsers"];
  return bindings.filter((one) => one.members?.some((member) => members.includes(member))).map(({ role }) => role);
}

/**
 * The Firebase CLI names the job after the function and its region.
 * https://cloud.google.com/scheduler/docs/reference/rest/v1/projects.locations.jobs/get
 */
export async function readSweepJob(
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

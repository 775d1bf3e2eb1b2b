/** Whether measurements can be scheduled and run: the task queue, the rights of the functions' account, the job of the sweep. */
import { ACT_AS, neededRoles, type Role } from "../../../functions/src/decisions.ts";
import { deploymentsFor, variablesOf } from "./deployments.ts";
import { type DeployedFunction, type ProjectFacts, seen } from "./facts.ts";
import { DEPLOY_FUNCTIONS, errorFinding, type Finding, listed, warningFinding } from "./finding.ts";

/** What the functions declare for their queue. A test compares them with `functions/src/deploy/taskLimits.ts`. */
export const DECLARED_LIMITS = { maxDispatchesPerSecond: 500, maxConcurrentDispatches: 200, maxAttempts: 100 } as const;

export function checkQueue({ queue }: ProjectFacts): Finding[] {
  const found = seen(queue);
  if (found === undefined) return [];
  if (found === null) {
    return [
      errorFinding(
        "queue-missing",
        "the task queue of the function aggregate does not exist, so busy counters are not published",
        `${DEPLOY_FUNCTIONS}; a queue that was deleted can be created again after 3 days, or in another LOCATION at once`,
      ),
    ];
  }
  if (found.state !== "RUNNING") {
    return [
      errorFinding(
        "queue-stopped",
        `the task queue ${found.name} is ${found.state}, so busy counters are not published`,
        `run \`gcloud tasks queues resume ${found.name}\``,
      ),
    ];
  }
  const lower = (["maxDispatchesPerSecond", "maxConcurrentDispatches", "maxAttempts"] as const).filter((limit) => {
    const value = found[limit];
    // A negative number of attempts means that there is no limit.
    return value !== null && value >= 0 && value < DECLARED_LIMITS[limit];
  });
  if (lower.length === 0) return [];
  return [
    warningFinding(
      "queue-limits",
      `the task queue has ${listed(lower.map((limit) => `${limit} ${found[limit]} instead of ${DECLARED_LIMITS[limit]}`))}: totals are later under load`,
      `${DEPLOY_FUNCTIONS}, which sets what the functions declare`,
    ),
  ];
}

/** A task that has failed so often does not fail by chance. */
const PERSISTENT_ATTEMPTS = 3;

/** Codes of https://cloud.google.com/tasks/docs/reference/rpc/google.rpc#code: HTTP 404, 403, 429 and 401. */
const [NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNAUTHENTICATED] = [5, 7, 8, 16];

export function checkTasks({ failedTasks }: ProjectFacts): Finding[] {
  const failing = (seen(failedTasks) ?? []).filter(({ attempts }) => attempts >= PERSISTENT_ATTEMPTS);
  const oldest = new Map(failing.toReversed().map((task) => [task.called.name, task]));
  return [...oldest.values()].map(({ called, attempts, code, message }) =>
    errorFinding(
      "tasks-failing",
      `tasks that call ${called.name} fail. The oldest failed ${attempts} times, last with status ${code} (${message})`,
      taskRemedy(code, called),
    ),
  );
}

function taskRemedy(code: number, { name, region, serviceAccount }: DeployedFunction): string {
  if (code === NOT_FOUND) return `the function that they call does not exist: ${DEPLOY_FUNCTIONS}`;
  if (code === RESOURCE_EXHAUSTED) return "no instance was free: raise MAX_INSTANCES, or the quota of Cloud Run";
  if (code !== PERMISSION_DENIED && code !== UNAUTHENTICATED) return `look at the log of ${name}`;
  return `let the functions' account call it: \`gcloud run services add-iam-policy-binding ${name} --region ${region} --member serviceAccount:${serviceAccount} --role roles/run.invoker\``;
}

/** Wider roles, which include one that the account needs. */
const WIDER: Readonly<Partial<Record<Role, readonly string[]>>> = {
  "roles/datastore.user": ["roles/datastore.owner", "roles/firebase.admin"],
  "roles/cloudtasks.enqueuer": ["roles/cloudtasks.admin"],
  [ACT_AS]: ["roles/iam.serviceAccountAdmin"],
  "roles/eventarc.eventReceiver": ["roles/eventarc.admin"],
  "roles/run.invoker": ["roles/run.admin"],
  "roles/pubsub.publisher": ["roles/pubsub.editor", "roles/pubsub.admin"],
  "roles/eventarc.publisher": ["roles/eventarc.admin"],
};

/** Basic roles, which include all of them. */
const BASIC = ["roles/owner", "roles/editor"];

export function checkGrants({ grants, functions, target }: ProjectFacts): Finding[] {
  const found = seen(grants);
  if (!found) return [];
  const { account, roles } = found;
  const [deployment] = deploymentsFor(seen(functions) ?? [], target);
  const variables = (deployment && variablesOf(deployment)) ?? {};
  const needed = [...neededRoles(variables, deployment?.prefix.startsWith("kit-") ?? false)];
  return needed
    .filter(([role]) => ![role, ...(WIDER[role] ?? []), ...BASIC].some((one) => roles.includes(one)))
    .map(([role, purpose]) =>
      warningFinding(
        "role-missing",
        `${account}, the functions' account, lacks ${role}, which it needs to ${purpose} (a folder, a group or a custom role may grant it; doctor does not see those)`,
        `grant it: \`gcloud ${role === ACT_AS ? `iam service-accounts add-iam-policy-binding ${account}` : `projects add-iam-policy-binding ${target.project}`} --member serviceAccount:${account} --role ${role}\``,
      ),
    );
}

export function checkSweep({ sweepJob, functions, target }: ProjectFacts): Finding[] {
  const job = seen(sweepJob);
  if (job === undefined) return [];
  if (job === null) {
    // Without the function, that is told.
    const isDeployed = deploymentsFor(seen(functions) ?? [], target).some((one) => one.functions.has("sweep"));
    if (!isDeployed) return [];
    return [
      errorFinding(
        "sweep-missing",
        "no job of Cloud Scheduler runs the sweep, so lost measurements are never repeated, and nothing is reconciled",
        DEPLOY_FUNCTIONS,
      ),
    ];
  }
  if (job.state !== "ENABLED") {
    return [
      errorFinding(
        "sweep-stopped",
        `the job ${job.name} is ${job.state}, so lost measurements are never repeated, and nothing is reconciled`,
        `run \`gcloud scheduler jobs resume ${job.name}\``,
      ),
    ];
  }
  if (!job.lastStatus) return [];
  return [
    warningFinding(
      "sweep-failing",
      `the last run of the job ${job.name} failed with status ${job.lastStatus}`,
      "look at the log of the function sweep",
    ),
  ];
}

/**
 * The roles that the functions' account needs: those that the functions declare to the Firebase CLI, and that `doctor` looks for.
 *
 * Sources: https://firebase.google.com/docs/functions/task-functions, https://cloud.google.com/eventarc/docs/run/roles-permissions
 */
import type { Role } from "../shared/feature.ts";
import { ALL_PLANS } from "./parameters.ts";

/** Needed on the account itself. The CLI can grant it only on the project, and so for all accounts. */
export const ACT_AS = "roles/iam.serviceAccountUser";

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The roles and what each is for.
 *
 * A kit sends its tasks with a token of its own, as the Admin SDK does for kits and extensions. In a plain codebase the tasks name the
 * account, and only an account that may act as another one can name it.
 *
 * @param variables  the parameters that are set, and `EVENTARC_CHANNEL`
 */
export function neededRoles(variables: Variables, isKit: boolean): ReadonlyMap<Role, string> {
  const ofFeatures = ALL_PLANS.flatMap(({ roles = [] }) => roles).filter((one) => variables[one.if]);
  return new Map<Role, string>([
    ["roles/datastore.user", "read shards and write totals"],
    ["roles/cloudtasks.enqueuer", "schedule measurements"],
    ...(isKit ? [] : [[ACT_AS, "enqueue tasks that call in its name"] as const]),
    ["roles/eventarc.eventReceiver", "receive the events of Firestore"],
    ["roles/run.invoker", "be called by Eventarc, Cloud Tasks and Cloud Scheduler"],
    ...ofFeatures.map(({ role, to }) => [role, to] as const),
  ]);
}

/**
 * The roles that the functions' account needs: those that the functions declare to the Firebase CLI, and that `doctor` looks for.
 *
 * Sources: https://firebase.google.com/docs/functions/task-functions, https://cloud.google.com/eventarc/docs/run/roles-permissions
 */

/** Needed on the account itself. The CLI can grant it only on the project, and so for all accounts. */
export const ACT_AS = "roles/iam.serviceAccountUser";

/** Needed for the topic of `EVENTS_TOPIC`. */
export const PUBLISHER = "roles/pubsub.publisher";

/** Needed for the channel of `EVENTARC_CHANNEL`. */
const EVENT_PUBLISHER = "roles/eventarc.publisher";

/** The type of firebase-functions. */
export type Role = `roles/${string}.${string}`;

type Values = Readonly<Record<string, string | undefined>>;

/**
 * The roles and what each is for.
 *
 * A kit sends its tasks with a token of its own, as the Admin SDK does for kits and extensions. In a plain codebase the tasks name the
 * account, and only an account that may act as another one can name it.
 *
 * @param values  of the parameters, and `EVENTARC_CHANNEL`
 */
export function neededRoles(values: Values, isKit: boolean): ReadonlyMap<Role, string> {
  return new Map<Role, string>([
    ["roles/datastore.user", "read shards and write totals"],
    ["roles/cloudtasks.enqueuer", "schedule measurements"],
    ...(isKit ? [] : [[ACT_AS, "enqueue tasks that call in its name"] as const]),
    ["roles/eventarc.eventReceiver", "receive the events of Firestore"],
    ["roles/run.invoker", "be called by Eventarc, Cloud Tasks and Cloud Scheduler"],
    ...(values.EVENTS_TOPIC ? [[PUBLISHER, "publish the event log"] as const] : []),
    ...(values.EVENTARC_CHANNEL ? [[EVENT_PUBLISHER, "publish drift events"] as const] : []),
  ]);
}

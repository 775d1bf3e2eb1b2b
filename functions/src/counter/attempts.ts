/**
 * Attempts of what has failed. Cloud Tasks slows down a queue whose tasks fail (https://cloud.google.com/tasks/docs/common-pitfalls), and
 * Pub/Sub a subscription whose events fail (https://cloud.google.com/pubsub/docs/push#push_backoff). One counter that fails would then
 * delay all others. So the handling of a task or an event that fails creates a task for its next attempt, and ends without an error.
 */
import { withTimeout } from "../../../firestore/src/index.ts";
import type { Backend } from "./backend.ts";
import type { CounterTask } from "./cause.ts";
import { logError } from "./log.ts";
import type { Millis } from "./time.ts";

/** The shortest and the longest time between two attempts. */
const FIRST_PAUSE: Millis = 2_000;
const LAST_PAUSE: Millis = 64_000;

/** The longer the attempts have failed, the longer the pause: up to this share of the time. */
const PAUSE_SHARE = 1 / 16;

/** An invocation that took longer would be ended after a minute, and fail. */
const LONGEST_WORK: Millis = 40_000;

/**
 * The next attempt of what has failed since then. Instants are multiples of the pause, and each pause is a multiple of the shorter ones.
 * So attempts of one counter that began at different times become one task.
 */
export function nextAttemptAt(failingSince: Millis, now: Millis): Millis {
  const wanted = Math.min((now - failingSince) * PAUSE_SHARE, LAST_PAUSE);
  let pause = FIRST_PAUSE;
  while (pause * 2 <= wanted) pause *= 2;
  return (Math.floor(now / pause) + 1) * pause;
}

/**
 * Does the work of a task. If it fails, or takes longer than 40 seconds, logs why, and schedules the next attempt: without end, for a
 * write waits for it. Cost of a failure: 1 task operation.
 *
 * @returns the result, or when the next attempt is due
 * @throws if the attempt cannot be scheduled. The platform then repeats the invocation
 */
export async function attempt<Result>(
  backend: Pick<Backend, "now" | "schedule">,
  task: CounterTask,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result } | { readonly nextAt: Millis }> {
  try {
    return { result: await withTimeout(LONGEST_WORK, work()) };
  } catch (error) {
    const { counterId: counter, kind, failingSince = backend.now() } = task;
    const since = new Date(failingSince);
    logError("a counter could not be brought up to date; another attempt follows", { counter, kind, since, error });
    return { nextAt: await scheduleAttempt(backend, task, failingSince) };
  }
}

/** Schedules the next attempt of a task. Cost: 1 task operation. @returns when it is due */
export async function scheduleAttempt(
  { now, schedule }: Pick<Backend, "now" | "schedule">,
  task: CounterTask,
  failingSince: Millis,
): Promise<Millis> {
  // By a slow clock it could be the instant of this task, whose name is taken.
  const due = nextAttemptAt(failingSince, Math.max(now(), task.due));
  await schedule({ ...task, due, failingSince });
  return due;
}

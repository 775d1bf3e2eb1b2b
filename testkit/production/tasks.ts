/**
 * Cloud Tasks: a task runs at least once, at its time or later, and its name cannot be used again for an hour. Retries are in
 * `invocations.ts`.
 */
import type { Random } from "../../core/testing/random.ts";
import type { Millis } from "../statistics.ts";

/**
 * "another task with the same name can't be created for ~1hour after the original task was deleted or executed"
 * (https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations.queues.tasks/create).
 */
const NAME_RELEASED_AFTER: Millis = 3_600_000;

/** From the due time of a task to its run, usually. Assumption: Google gives no figure. */
export const TASK_LATENCY: Millis = 100;

/** For the search for races: sooner than usual. Assumption. */
const PROMPT: Millis = 50;

/** Delays "usually lasting a few minutes" (https://cloud.google.com/tasks/docs/common-pitfalls). Ten is an assumption. */
const LATE: Millis = 600_000;

/** The share of failed calls to create a task that have created it: the answer was lost. Assumption. */
const CREATED_ANYWAY = 0.5;

/** The names of a queue's tasks. */
export class TaskNames {
  readonly #takenUntil = new Map<string, Millis>();

  /** Takes a name for a new task. @returns whether it was free */
  take(name: string, now: Millis): boolean {
    if ((this.#takenUntil.get(name) ?? 0) > now) return false;
    this.#takenUntil.set(name, Number.POSITIVE_INFINITY);
    return true;
  }

  /** The task has run. */
  done(name: string, now: Millis): void {
    this.#takenUntil.set(name, now + NAME_RELEASED_AFTER);
  }
}

export type TaskFault = "late tasks" | "duplicate events" | "failed scheduling";

/**
 * How long after its due time a task runs: once, or twice. ("more than 99.999% of tasks are executed only once", common pitfalls.)
 *
 * @param share   of the tasks that get a fault
 * @param inject  whether a fault that is due strikes
 */
export function taskDelays(random: Random, share: number, inject: (fault: TaskFault) => boolean): Millis[] {
  const late = random.between(0, LATE);
  const delay = random.chance(share) && inject("late tasks") ? late : random.between(0, PROMPT);
  return random.chance(share) && inject("duplicate events") ? [delay, 2 * delay] : [delay];
}

/** What a call that creates a task does, and what its caller learns. */
export function creationOutcome(
  random: Random,
  share: number,
  inject: (fault: TaskFault) => boolean,
): "created" | "failed" | "created, answer lost" {
  const fails = random.chance(share) && inject("failed scheduling");
  const isCreated = random.chance(CREATED_ANYWAY);
  if (!fails) return "created";
  return isCreated ? "created, answer lost" : "failed";
}

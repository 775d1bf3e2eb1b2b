/**
 * How long an invocation may take, and when a failed one is repeated. Events and tasks are repeated; a schedule is not: its next
 * run is the next one that is due (https://firebase.google.com/docs/functions/schedule-functions).
 */
import type { Millis } from "../statistics.ts";

/**
 * After this time an invocation has failed. Its code may still run on. The default of event functions
 * (https://cloud.google.com/functions/docs/configuring/timeout), and the deadline that Tally sets for its tasks.
 */
export const INVOCATION_TIMEOUT: Millis = 60_000;

export interface Retries {
  readonly first: Millis;
  /** The backoff doubles up to this. */
  readonly longest: Millis;
  /** In all; without, any number. */
  readonly attempts?: number;
  /** How long after the first attempt the last one may begin; without, any time. */
  readonly lasts?: Millis;
}

/** "with an exponential backoff of between 10 and 600 seconds", for 24 hours (https://firebase.google.com/docs/functions/retries). */
export const EVENT_RETRIES: Retries = { first: 10_000, longest: 600_000, lasts: 24 * 3_600_000 };

/** What the queue of `functions/src/deploy/taskLimits.ts` asks Cloud Tasks for. */
export const TASK_RETRIES: Retries = { first: 1_000, longest: 900_000, attempts: 100 };

/**
 * How long after a failure the next attempt begins; `undefined` if there is none.
 *
 * @param failures  so far, at least one
 * @param age       how long ago the first attempt began
 */
export function retryAfter(failures: number, age: Millis, retries: Retries): Millis | undefined {
  const { first, longest, attempts = Infinity, lasts = Infinity } = retries;
  const wait = Math.min(first * 2 ** (failures - 1), longest);
  return failures < attempts && age + wait <= lasts ? wait : undefined;
}

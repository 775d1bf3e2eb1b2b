/**
 * The one error class of Tally. Programs compare its `code`, which is stable; people read its message, which says what was
 * wrong, what is accepted and what to do.
 */

/** Why a call failed. New codes may be added in a minor version; none changes its meaning. */
export type CounterErrorCode =
  /** The call does not accept the amount. Most accept a number within ±2⁵³ that is not 0. */
  | "counter/invalid-amount"
  /** The sum of the shards is beyond what a number can hold. */
  | "counter/overflow"
  /** The counter id cannot name a Firestore document. */
  | "counter/invalid-id"
  /** The collection cannot hold counters. */
  | "counter/invalid-collection"
  /** The `once` of an increment cannot name a Firestore document. */
  | "counter/invalid-once"
  /** What a server's rate limit is kept for, such as an API key, cannot name a Firestore document. */
  | "counter/invalid-key"
  /** The id of a visitor is not a text. */
  | "counter/invalid-visitor"
  /** The database, or the reference to a counter, belongs to another SDK: the web's or the server's. */
  | "counter/invalid-reference"
  /** An option has an invalid value. */
  | "counter/invalid-option"
  /** The batch or transaction cannot take the increment: it has one of the same counter, or six with `once`. */
  | "counter/invalid-batch"
  /** On a server: the `once` already counts with another amount. */
  | "counter/once-conflict"
  /**
   * The security rules refuse the increment: its amount, its `once`, a missing `once`, or a user who is signed out. Or they refuse
   * the document of `withRateLimit`, for another reason than its rate.
   */
  | "counter/permission-denied"
  /** The user has no use of a rate limit left. `retryAfter` tells how long to wait. */
  | "counter/rate-limited"
  /** On a server, or of a buffer: what was called for may or may not be done. The message says whether to repeat it. */
  | "counter/unknown-outcome"
  /** A bounded counter has fewer units left than the take asks for. */
  | "counter/sold-out"
  /** The call may lower a bounded counter below zero. */
  | "counter/bounded"
  /** The counter is not bounded, so nothing can be taken from it. */
  | "counter/not-bounded"
  /** The counter counts a collection, so its total cannot be set, nor compared with another source. */
  | "counter/counted-collection"
  /** The source of truth is invalid, or the counter has none. */
  | "counter/invalid-source"
  /** The source is too large for Firestore to count in time. */
  | "counter/source-too-large"
  /**
   * A reset or reconcile gave up, because other writes of the counter's `shards/base` came first each time; or a take, because
   * the units that are left stayed spread over several shards; or a take or a use of a rate limit, because others came first.
   */
  | "counter/contention"
  /**
   * Amounts for the function `ingest` were dropped: they were refused, waited too long, or too many waited. They may or may not
   * count.
   */
  | "counter/dropped"
  /** The function `totals` has no answer, or refuses it; or the function `ingest` has not answered for about a minute. */
  | "counter/unavailable"
  /** The buffered counter was closed. */
  | "counter/closed"
  /** A test cannot use the emulator: it is not running, its rules do not compile, or its functions are not loaded. */
  | "counter/emulator"
  /** The configuration of the functions is contradictory or out of range. */
  | "counter/invalid-config";

/**
 * Every error that Tally itself throws; those of the beacon are plain errors with such a code. Errors of Firestore are passed on unchanged. Compare `code`, not the class: an app may
 * have loaded the class twice, from ESM and from CommonJS.
 */
export class CounterError extends Error {
  /** `"CounterError"` */
  override readonly name = "CounterError";
  /** Why the call failed. */
  declare readonly code: CounterErrorCode;
  /** Of `counter/rate-limited`: in how many milliseconds the limit surely has a use for this user again. */
  declare readonly retryAfter?: number;

  constructor(code: CounterErrorCode, message: string, cause?: unknown) {
    super(`${code}: ${message}`, { cause });
    this.code = code;
  }
}

/** Whether an error is a {@link CounterError}, by its code. */
export function isCounterError(error: unknown): error is CounterError {
  return String((error as { code?: unknown } | undefined)?.code).startsWith("counter/");
}

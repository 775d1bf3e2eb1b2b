/**
 * The one error class of Tally. Its `code` is stable and meant for programs; its message is for people and says
 * what was wrong, what is accepted and what to do.
 */

/** Why a call failed. New codes may be added in a minor version; none changes its meaning. */
export type CounterErrorCode =
  /** The amount is not a finite, non-zero number. */
  | "counter/invalid-amount"
  /** The counter id cannot name a Firestore document. */
  | "counter/invalid-id"
  /** The collection cannot hold counters. */
  | "counter/invalid-collection"
  /** The key of a keyed increment cannot name a Firestore document. */
  | "counter/invalid-key"
  /** The database, or the reference to a counter, belongs to another SDK: the web's or the server's. */
  | "counter/invalid-reference"
  /** An option has a value it cannot have. */
  | "counter/invalid-option"
  /** On a server: the key counts already, with another amount. */
  | "counter/key-conflict"
  /** The security rules refuse this increment: signed out, another amount than they allow, a keyed counter. */
  | "counter/permission-denied"
  /** On a server: the increment may count or not, and repeating it may count it twice. */
  | "counter/unknown-outcome"
  /** The source of truth is none that can be counted, or the counter has none. */
  | "counter/invalid-source"
  /** Firestore gave up counting the source: it is too large. */
  | "counter/source-too-large"
  /** A reconcile could not correct a counter, because somebody wrote its `shards/base` each time before. */
  | "counter/contention"
  /** The buffered counter was closed. */
  | "counter/closed"
  /** The emulator that a test wants cannot be used: not running, no rules, no functions. */
  | "counter/emulator"
  /** The configuration of the functions is contradictory or out of range. */
  | "counter/invalid-config";

/** Every error that Tally itself raises. Errors of Firestore are passed on as they are. */
export class CounterError extends Error {
  /** `"CounterError"` */
  override readonly name = "CounterError";
  /** Why it failed. */
  declare readonly code: CounterErrorCode;

  constructor(code: CounterErrorCode, message: string, cause?: unknown) {
    super(`${code}: ${message}`, { cause });
    this.code = code;
  }
}

/** Whether an error is Tally's. By its code: an app may have loaded the class twice, from ESM and from CommonJS. */
export function isCounterError(error: unknown): error is CounterError {
  return String((error as { code?: unknown } | undefined)?.code).startsWith("counter/");
}

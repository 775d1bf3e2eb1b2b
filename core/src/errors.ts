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
  /** An option has a value it cannot have. */
  | "counter/invalid-option"
  /** The security rules refuse this increment: signed out, another amount than they allow, a keyed counter. */
  | "counter/permission-denied"
  /** The configuration of the functions is contradictory or out of range. */
  | "counter/invalid-config";

export class CounterError extends Error {
  readonly code: CounterErrorCode;

  constructor(code: CounterErrorCode, message: string, options?: ErrorOptions) {
    super(`${code}: ${message}`, options);
    this.name = "CounterError";
    this.code = code;
  }
}

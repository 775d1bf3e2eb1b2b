/**
 * Checks of arguments before any I/O. Each check of one argument returns it, or throws a `CounterError` that says what the value
 * is and what to pass.
 */
import { CounterError } from "./errors.ts";
import { MAX_ID_BYTES } from "./layout.ts";

/** Whether a sum of any number of such amounts stays finite. Whole ones are exact. */
export function isBounded(amount: unknown): boolean {
  return typeof amount === "number" && Math.abs(amount) < 2 ** 53;
}

/** @throws CounterError `counter/invalid-amount` unless `by` is a number within ±2⁵³, and not 0 */
export function validAmount(by: unknown): number {
  return valid(isBounded(by) && by !== 0, "amount", by, "a number within ±2^53, not 0");
}

/** @throws CounterError `counter/invalid-amount` or, if there is a key, `counter/invalid-key` */
export function validIncrement(by: unknown, key: unknown): void {
  validAmount(by);
  if (key !== undefined) validName("key", key);
}

/**
 * @param what  `"id"` of a counter, `"collection"` or `"key"`
 * @throws CounterError `counter/invalid-id`, `-collection` or `-key` unless `name` is a valid Firestore document id
 */
export function validName(what: "id" | "collection" | "key", name: unknown): string {
  return valid(isDocumentId(name), what, name, '1-1500 bytes, no "/", not ".", "..", "__x__"');
}

/** Whether a value is a valid id of a document or a collection. */
export function isDocumentId(id: unknown): id is string {
  try {
    // The encoding throws for half of a surrogate pair, which the SDKs would replace by another character.
    return (
      typeof id === "string" &&
      !/^(\.{0,2}|__.*__)$|\//s.test(id) &&
      encodeURIComponent(id).replace(/%../g, "-").length <= MAX_ID_BYTES
    );
  } catch {
    return false;
  }
}

/** Returns a valid value. The error shows an invalid one, shortened, but no object: it may not convert to a string. */
function valid<T>(ok: boolean, what: "amount" | "id" | "collection" | "key", value: unknown, accepted: string): T {
  if (ok) return value as T;
  const shown = typeof value === "object" ? "object" : String(value).slice(0, 60);
  throw new CounterError(`counter/invalid-${what}`, `${what} is "${shown}"; pass ${accepted}`);
}

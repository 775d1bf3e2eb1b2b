/**
 * What is refused before any I/O. Each check returns its argument, or throws a `CounterError` that names the value,
 * what is accepted and what to do.
 */
import { CounterError } from "./errors.ts";
import { MAX_ID_BYTES } from "./layout.ts";

/** @throws CounterError `counter/invalid-amount` unless `by` is a finite, non-zero number */
export function validAmount(by: unknown): number {
  return valid(Number.isFinite(by) && by !== 0, "amount", by, "a finite number, not 0");
}

/** @throws CounterError `counter/invalid-amount` or, if there is a key, `counter/invalid-key` */
export function validIncrement(by: unknown, key: unknown): void {
  validAmount(by);
  if (key !== undefined) validName("key", key);
}

/**
 * @param what  `"id"` of a counter, `"collection"` or `"key"`
 * @throws CounterError `counter/invalid-id`, `-collection` or `-key` unless `name` can be a Firestore document's id
 */
export function validName(what: "id" | "collection" | "key", name: unknown): string {
  return valid(isDocumentId(name), what, name, '1-1500 bytes, no "/", not ".", "..", "__x__"');
}

/** Whether something can be the id of a document or of a collection. */
export function isDocumentId(id: unknown): id is string {
  if (typeof id !== "string" || /^(\.{0,2}|__.*__)$|\//s.test(id)) return false;
  try {
    // Throws for half of a surrogate pair, which would reach the database as another character.
    return encodeURIComponent(id).replace(/%../g, "-").length <= MAX_ID_BYTES;
  } catch {
    return false;
  }
}

/** Returns a value that is `ok`. The message shows others, cut short, and no object, which may have no text. */
function valid<T>(ok: boolean, what: "amount" | "id" | "collection" | "key", value: unknown, accepted: string): T {
  if (ok) return value as T;
  const shown = typeof value === "object" ? "object" : String(value).slice(0, 60);
  throw new CounterError(`counter/invalid-${what}`, `${what} is "${shown}"; pass ${accepted}`);
}

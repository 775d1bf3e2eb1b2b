/**
 * Checks of arguments before any I/O. Each check of one argument returns it, or throws a `CounterError` that says what the value
 * is and what to pass.
 */
import { CounterError } from "./errors.ts";
import { MAX_ID_BYTES } from "./layout.ts";

/** Whether a sum of any number of such amounts stays finite. Whole ones are exact. */
export function isSafeAmount(amount: unknown): amount is number {
  return typeof amount === "number" && Math.abs(amount) < 2 ** 53;
}

/** @throws CounterError `counter/invalid-amount` unless `by` is a number within ±2⁵³, and not 0 */
export function validAmount(by: unknown): number {
  return valid(isSafeAmount(by) && by !== 0, "amount", by, "a number within ±2^53, not 0");
}

/** What follows the reference in a call that counts: the amount, 1 if it is left out, and options. */
export type IncrementArguments = [by?: number | undefined, options?: { once?: string } | undefined];

/**
 * The amount and the `once` of a call. An argument that is passed and `undefined` is invalid, and so is such a `once`: a value that the
 * caller is missing must not count by its default, or count again.
 *
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-once`
 */
export function validIncrement(given: IncrementArguments): [by: number, once: string | undefined] {
  return [givenAmount(given), givenName(given[1], "once")];
}

/** @throws CounterError `counter/invalid-amount` */
export function givenAmount(given: readonly unknown[]): number {
  return given.length > 0 ? validAmount(given[0]) : 1;
}

/** The name that an option holds; `undefined` without it. @throws CounterError if it is no valid name, `undefined` included */
export function givenName(options: unknown, what: "collection" | "once"): string | undefined {
  return hasOption(options, what) ? validName(what, options[what]) : undefined;
}

/** An option that is `false` unless it is `true`. @throws CounterError `counter/invalid-option` for any other value */
export function givenFlag(options: unknown, name: string): boolean {
  if (!hasOption(options, name)) return false;
  const flag = options[name];
  if (typeof flag === "boolean") return flag;
  throw new CounterError("counter/invalid-option", `${name} is "${shown(flag)}"; pass true or false`);
}

/** Whether options have one of this name, `undefined` included. @throws TypeError if they are no object */
export function hasOption<Name extends string>(options: unknown, name: Name): options is Record<Name, unknown> {
  return options !== undefined && name in (options as object);
}

/**
 * @param what  `"id"` of a counter, `"collection"`, `"once"`, or the `"key"` of a rate limit
 * @throws CounterError `counter/invalid-id`, `-collection`, `-once` or `-key` unless `name` is a valid Firestore document id; it says
 *         which character or word it must not have. Words are `.`, `..`, and `__` at both ends
 */
export function validName(what: "id" | "collection" | "once" | "key", name: unknown): string {
  const wrong = typeof name === "string" && REFUSED.exec(name)?.[0];
  // A control character is shown as in a URL: %00.
  return valid(isDocumentId(name), what, name, `1-1500 bytes${wrong ? ` without "${escape(wrong)}"` : ""}`);
}

/** The group of a query. @throws CounterError `counter/invalid-option` for what is no group: no string, or an id with a colon */
export function validGroup(group: unknown): string {
  if (typeof group === "string" && !group.includes(":")) return group;
  throw new CounterError(
    "counter/invalid-option",
    `group is "${shown(group)}"; pass the part of ids before the first colon, such as "likes", or "" for ids without a colon`,
  );
}

/** A word that is no id, or a character that none may have: a slash, a control character, half of a surrogate pair. */
const REFUSED = /^(\.{0,2}$|__(?=.*__$))|[/\p{Cc}\p{Cs}]/su;

/**
 * Whether a value is a valid id of a document or a collection. Firestore also takes control characters, but its events do not
 * arrive; and the SDKs would replace half of a surrogate pair by another character.
 */
export function isDocumentId(id: unknown): id is string {
  return (
    typeof id === "string" && !REFUSED.test(id) && encodeURIComponent(id).replace(/%../g, "-").length <= MAX_ID_BYTES
  );
}

/** Returns a valid value. @throws CounterError with the code of `what`, the value, and what is accepted */
export function valid<T>(
  ok: unknown,
  what: "amount" | "id" | "collection" | "once" | "key" | "reference",
  value: unknown,
  accepted: string,
): T {
  if (ok) return value as T;
  throw new CounterError(`counter/invalid-${what}`, `${what} is "${shown(value)}"; pass ${accepted}`);
}

/** A value for an error message: shortened, and no object, which may not convert to a string. */
function shown(value: unknown): string {
  return typeof value === "object" ? "object" : String(value).slice(0, 60);
}

/**
 * What is refused before any I/O. Each check returns its argument, or throws a `CounterError` that names the value,
 * what is accepted and what to do.
 */
import { CounterError } from "./errors.ts";

/** Firestore's limit on a document id (https://firebase.google.com/docs/firestore/quotas#collections_documents_and_fields). */
const MAX_ID_BYTES = 1_500;

/** @throws CounterError `counter/invalid-amount` unless `by` is a finite, non-zero number */
export function validAmount(by: unknown): number {
  if (typeof by !== "number" || !Number.isFinite(by) || by === 0) {
    throw new CounterError(
      "counter/invalid-amount",
      `increment by ${describe(by)}; pass a finite, non-zero number such as 1 or -1`,
    );
  }
  return by;
}

/** @throws CounterError `counter/invalid-id` unless `id` can name a Firestore document */
export function validCounterId(id: unknown): string {
  const problem = documentIdProblem(id);
  if (problem) {
    throw new CounterError(
      "counter/invalid-id",
      `counter id ${describe(id)} ${problem}; use something like "views:home"`,
    );
  }
  return id as string;
}

/** @throws CounterError `counter/invalid-collection` unless `collection` is one collection's id */
export function validCollection(collection: unknown): string {
  const problem = documentIdProblem(collection);
  if (problem) {
    throw new CounterError(
      "counter/invalid-collection",
      `collection ${describe(collection)} ${problem}; pass the COLLECTION the functions were deployed with, by default "counters"`,
    );
  }
  return collection as string;
}

/** @throws CounterError `counter/invalid-option` unless `key` is a non-empty string */
export function validShardKey(key: unknown): string {
  if (typeof key !== "string" || key === "") {
    throw new CounterError(
      "counter/invalid-option",
      `shardKey is ${describe(key)}; pass a non-empty string that names the writer, such as a user or device id`,
    );
  }
  return key;
}

/** Why something cannot be the id of a document or a collection, as the end of a sentence; `undefined` if it can. */
export function documentIdProblem(id: unknown): string | undefined {
  if (typeof id !== "string") return "is not a string";
  if (id === "") return "is empty";
  if (id.includes("/")) return 'has a "/"';
  if (id === "." || id === "..") return "is a path segment of its own";
  if (/^__.*__$/s.test(id)) return "is reserved by Firestore (__…__)";
  if (!isWellFormed(id)) return "is not valid Unicode (half of a surrogate pair)";
  const bytes = new TextEncoder().encode(id).length;
  if (bytes > MAX_ID_BYTES) return `is ${bytes} bytes long, more than ${MAX_ID_BYTES}`;
  return undefined;
}

/** `String.prototype.isWellFormed`, which browsers older than 2023 lack. A lone surrogate becomes U+FFFD in UTF-8. */
function isWellFormed(text: string): boolean {
  try {
    encodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** A value as it would be typed, cut short: error messages must not carry a megabyte. */
function describe(value: unknown): string {
  const text = typed(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function typed(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  return typeof value === "object" && value !== null ? Object.prototype.toString.call(value) : String(value);
}

/**
 * Which collections are counted, and by which counters. The counter's id follows from the collection's path and the path
 * from the id, without a lookup.
 *
 *     posts                             posts/{post}/comments
 *     posts ⇄ counter posts             posts/42/comments ⇄ counter comments:42
 */
import { CounterError } from "./errors.ts";
import { isDocumentId } from "./validation.ts";

/** The path of the counted collections, segment by segment; `{name}` is a wildcard for any document. */
export type CountedCollection = readonly string[];

/** Of a parameter that names a collection: none. The pattern of a trigger must be valid even then. */
export const NO_COLLECTION = "_none";

/** The wildcard that follows the path in the pattern of the triggers. */
const DOCUMENT_WILDCARD = "{document}";

/**
 * Reads the parameter `COUNTED_COLLECTION`.
 *
 * @throws CounterError `counter/invalid-config`
 */
export function parseCountedCollection(parameter: string): CountedCollection | undefined {
  if (parameter === NO_COLLECTION) return undefined;
  const segments = parameter.split("/");
  const wildcards = segments.filter(isWildcard);
  const isValid = (segment: string, index: number) =>
    // In a trigger's pattern these characters have a special meaning.
    (isDocumentId(segment) && !/[{}*]/.test(segment)) || (index % 2 === 1 && isWildcard(segment));
  if (segments.length % 2 === 0 || !segments.every(isValid)) {
    throw invalid(parameter, "set it to the path of a collection, such as posts or posts/{post}/comments");
  }
  if (new Set([...wildcards, DOCUMENT_WILDCARD]).size <= wildcards.length) {
    throw invalid(parameter, `give each wildcard a different name, other than ${DOCUMENT_WILDCARD}`);
  }
  return segments;
}

function invalid(parameter: string, advice: string): CounterError {
  return new CounterError("counter/invalid-config", `COUNTED_COLLECTION is ${JSON.stringify(parameter)}; ${advice}`);
}

function isWildcard(segment: string): boolean {
  return /^\{[A-Za-z_]\w*\}$/.test(segment);
}

/**
 * The id of the counter of a collection: the collection's id, then the values of the wildcards, joined by colons.
 *
 * @returns `undefined` for a collection that cannot be counted: the counter's id would be invalid, or that of another
 *          collection. Of several wildcards, only the last may match an id with a colon.
 */
export function counterIdOf(collection: string, counted: CountedCollection | undefined): string | undefined {
  if (!counted) return undefined;
  const segments = collection.split("/");
  const counterId = [segments.at(-1), ...segments.filter((_, i) => isWildcard(counted[i] ?? ""))].join(":");
  return isDocumentId(counterId) && countedCollectionOf(counterId, counted) === collection ? counterId : undefined;
}

/** The path of the collection that a counter counts; `undefined` for a counter that sums its shards. */
export function countedCollectionOf(counterId: string, counted: CountedCollection | undefined): string | undefined {
  if (!counted) return undefined;
  const name = counted.at(-1) as string;
  const wildcards = counted.filter(isWildcard).length;
  if (wildcards === 0) return counterId === name ? counted.join("/") : undefined;
  if (!counterId.startsWith(`${name}:`)) return undefined;
  const parts = counterId.slice(name.length + 1).split(":");
  const values = [...parts.slice(0, wildcards - 1), parts.slice(wildcards - 1).join(":")];
  if (parts.length < wildcards || !values.every(isDocumentId)) return undefined;
  return counted.map((segment) => (isWildcard(segment) ? (values.shift() as string) : segment)).join("/");
}

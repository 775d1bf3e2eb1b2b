/**
 * Where a visitor is written: the visitors of the last 10 seconds wait in `tallyVisitors` until the functions merge them into
 * the counter's sketch. The rules compute the same hash from the user's uid, so that no user can write another's hash, or a chosen one.
 */
import { CounterError } from "./errors.ts";
import { VISITOR_HASH_DIGITS } from "./sketch.ts";

/** The subcollection of a counter that holds the visitors who are not in its sketch yet. */
export const VISITORS = "tallyVisitors";

/** `counters/{id}/tallyVisitors/{bucket}`. Clients add visitors, the functions delete the document. */
export interface UniquesDocument {
  /** Their hashes, each once. */
  visitors: string[];
}

/**
 * How many buckets visitors spread over: by the first hexadecimal digit of the hash, or the first two. Both kinds may exist
 * at the same time.
 */
export type BucketCount = 16 | 256;

/** Path of the collection of a counter's buckets. */
export function uniquesPath(counter: string): string {
  return `${counter}/${VISITORS}`;
}

/** The subcollection of a counter that holds its sketches. */
export const SKETCHES = "tallySketches";

/** The id, in `tallySketches`, of the visitors. */
export const UNIQUES = "uniques";

/** Path of the sketch of a counter's visitors. */
export function sketchPath(counter: string): string {
  return `${counter}/${SKETCHES}/${UNIQUES}`;
}

/** The id, in `tallySketches`, of what another region has sent of its visitors. */
export function regionSketchId(region: string): string {
  return `${UNIQUES}-${region}`;
}

/** @throws CounterError `counter/invalid-visitor` */
export function validVisitor(visitor: unknown): void {
  if (visitor && typeof visitor === "string") return;
  throw new CounterError("counter/invalid-visitor", `visitor is "${String(visitor)}"; pass a non-empty string`);
}

/**
 * The hash of a visitor: the first 16 hexadecimal digits of the SHA-256 of the id.
 *
 * @throws TypeError without Web Crypto, which browsers have on https and localhost alone
 */
export async function visitorHash(visitor: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(visitor));
  return new DataView(digest).getBigUint64(0).toString(16).padStart(VISITOR_HASH_DIGITS, "0");
}

/** The id of the bucket of a hash. @param buckets  a {@link BucketCount}; 16 unless it is 256 */
export function bucketOf(hash: string, buckets: unknown): string {
  return hash.slice(0, buckets === 256 ? 2 : 1);
}

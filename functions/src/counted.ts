/** Counts the documents of a collection, for a counter that counts one. */
import { collectionOf } from "../../core/src/index.ts";
import type { Backend } from "./backend.ts";
import type { Millis } from "./config.ts";
import type { Measurement } from "./measure.ts";

/**
 * An instant that is not before a document's deletion. The event's own time may be cut (the emulator's is, to the second),
 * but the document was deleted before the event arrived. Too late an instant costs another measurement at worst.
 *
 * @param eventTime  RFC 3339
 */
export function deletedBy(eventTime: string, now: Millis): Millis {
  return Math.max(Date.parse(eventTime) + 1, now);
}

/** Documents counted for the price of one read (https://firebase.google.com/docs/firestore/pricing#aggregation_queries). */
const COUNTED_PER_READ = 1_000;

/**
 * Counts the documents of the collection that a counter counts. Cost: 1 read per 1,000 documents, at least 1.
 *
 * @returns `undefined` for a counter that sums its shards
 */
export async function measureCollection(
  { firestore, config }: Pick<Backend, "firestore" | "config">,
  counterId: string,
): Promise<Measurement | undefined> {
  const path = collectionOf(counterId, config.counted);
  if (path === undefined) return undefined;
  const counted = await firestore.collection(path).count().get();
  const total = counted.data().count;
  const reads = Math.max(Math.ceil(total / COUNTED_PER_READ), 1);
  return { total, writes: 0, asOf: counted.readTime, documents: 0, counted: { path, reads } };
}

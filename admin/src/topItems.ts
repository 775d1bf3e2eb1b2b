/** The most frequent items of a counter, for a server. */
import type { Timestamp } from "firebase-admin/firestore";
import { type TopItems, type TopItemsDocument, topItemsPath, toTopItems, validTopItems } from "../../core/src/index.ts";
import { withReadTimeout } from "../../firestore/src/index.ts";
import { type CounterRef, firestoreOf } from "./counter.ts";

/**
 * Reads the most frequent items of a counter, the most frequent first. Events that the functions `ingest` and `ingestmessages` receive
 * bring them; those of the last 10 seconds may be missing. Cost: 1 read.
 *
 * @param options - `limit`: how many items, 100 at most; 10 by default
 * @throws CounterError `counter/invalid-option`
 *
 * @example
 * ```ts
 * const { items, total } = await getTopItems(counter(db, "searches"), { limit: 5 });
 * console.log(items.map(({ item, count }) => `${item}: ${(100 * count) / total} %`));
 * ```
 */
export async function getTopItems(
  ref: CounterRef,
  options: { limit?: number | undefined } = {},
): Promise<TopItems<Timestamp>> {
  const most = validTopItems(options.limit);
  const document = await withReadTimeout(firestoreOf(ref).doc(topItemsPath(ref.path)).get());
  return toTopItems(document.data() as TopItemsDocument<Timestamp> | undefined, most);
}

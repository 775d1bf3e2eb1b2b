/** The most frequent items of a counter: pages, search terms, or whatever events bring as their item. */
import { doc, getDoc, type Timestamp } from "firebase/firestore";
import {
  type TopItems,
  type TopItemsDocument,
  topItemsPath,
  toTopItems,
  validTopItems,
} from "../../../core/src/index.ts";
import { type CounterRef, counterDoc } from "./counter.ts";

/**
 * Reads the most frequent items of a counter, the most frequent first. Events that the function `ingest` receives bring them; those
 * of the last 10 seconds may be missing. Cost: 1 read.
 *
 * @param options - `limit`: how many items, 100 at most; 10 by default
 * @throws CounterError `counter/invalid-option`
 * @throws FirestoreError `permission-denied` unless `mayRead` of the rules allows it; `unavailable` when offline and nothing is
 *         cached
 *
 * @example
 * ```ts
 * const { items } = await getTopItems(counter(db, "searches"), { limit: 5 });
 * list(items.map(({ item, count }) => `${item}: ${count}`));
 * ```
 */
export async function getTopItems(
  ref: CounterRef,
  options: { limit?: number | undefined } = {},
): Promise<TopItems<Timestamp>> {
  const most = validTopItems(options.limit);
  const document = await getDoc(doc(counterDoc(ref).firestore, topItemsPath(ref.path)));
  return toTopItems(document.data() as TopItemsDocument<Timestamp> | undefined, most);
}

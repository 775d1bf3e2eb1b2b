/** The most frequent keys of a counter: pages, search terms, or whatever events bring as their key. */
import { doc, getDoc, type Timestamp } from "firebase/firestore";
import { type TopKeys, type TopKeysDocument, topKeysPath, toTopKeys, validTopKeys } from "../../../core/src/index.ts";
import { type CounterRef, counterDoc } from "./counter.ts";

/**
 * Reads the most frequent keys of a counter, the most frequent first. Events that the function `ingest` receives bring them; those
 * of the last 10 seconds may be missing. Cost: 1 read.
 *
 * @param k - how many keys, 100 at most
 * @throws CounterError `counter/invalid-option`
 * @throws FirestoreError `permission-denied` unless `mayRead` of the rules allows it; `unavailable` when offline and nothing is
 *         cached
 *
 * @example
 * ```ts
 * const { keys } = await topKeys(counter(db, "searches"), 5);
 * list(keys.map(({ key, count }) => `${key}: ${count}`));
 * ```
 */
export async function topKeys(ref: CounterRef, k = 10): Promise<TopKeys<Timestamp>> {
  const most = validTopKeys(k);
  const document = await getDoc(doc(counterDoc(ref).firestore, topKeysPath(ref.path)));
  return toTopKeys(document.data() as TopKeysDocument<Timestamp> | undefined, most);
}

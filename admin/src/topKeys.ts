/** The most frequent keys of a counter, for a server. */
import type { Timestamp } from "firebase-admin/firestore";
import { type TopKeys, type TopKeysDocument, topKeysPath, toTopKeys, validTopKeys } from "../../core/src/index.ts";
import { type CounterRef, firestoreOf } from "./counter.ts";

/**
 * Reads the most frequent keys of a counter, the most frequent first. Events that the functions `ingest` and `ingestmessages` receive
 * bring them; those of the last 10 seconds may be missing. Cost: 1 read.
 *
 * @param k - how many keys, 100 at most
 * @throws CounterError `counter/invalid-option`
 *
 * @example
 * ```ts
 * const { keys, total } = await topKeys(counter(db, "searches"), 5);
 * console.log(keys.map(({ key, count }) => `${key}: ${(100 * count) / total} %`));
 * ```
 */
export async function topKeys(ref: CounterRef, k = 10): Promise<TopKeys<Timestamp>> {
  const most = validTopKeys(k);
  const document = await firestoreOf(ref).doc(topKeysPath(ref.path)).get();
  return toTopKeys(document.data() as TopKeysDocument<Timestamp> | undefined, most);
}

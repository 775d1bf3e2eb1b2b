/** Reads whether a key counts: the state of a like button. */
import { type DocumentReference, doc, type FirestoreError, getDoc, onSnapshot } from "firebase/firestore";
import { entryPath, validName } from "../../../core/src/index.ts";
import type { CounterRef } from "./counter.ts";

/**
 * Reads whether the counter counts for a key, including pending increments of this client. Cost: 1 read. Offline, it resolves
 * only if the entry is cached: with Firestore's persistence, or while `onIncremented` watches it.
 *
 * @throws CounterError `counter/invalid-key`; FirestoreError `permission-denied` (the default rules let users read
 *         only their own entries), `unavailable` when offline and the entry is not in the cache
 *
 * @example
 * ```ts
 * const liked = await hasIncremented(counter(db, "likes:post42"), user.uid);
 * ```
 */
export async function hasIncremented(ref: CounterRef, key: string): Promise<boolean> {
  return (await getDoc(entryDoc(ref, key))).exists();
}

/**
 * Watches whether the counter counts for a key: calls `next` with the current state and after each change, at once for
 * changes by this client. Cost: 1 read, and 1 per change.
 *
 * @returns a function that ends the watch
 * @throws CounterError `counter/invalid-key`
 *
 * @example
 * ```ts
 * const stop = onIncremented(likes, user.uid, (liked) => heart.classList.toggle("filled", liked));
 * ```
 */
export function onIncremented(
  ref: CounterRef,
  key: string,
  next: (incremented: boolean) => void,
  error?: (error: FirestoreError) => void,
): () => void {
  return onSnapshot(entryDoc(ref, key), (entry) => next(entry.exists()), error);
}

function entryDoc(ref: CounterRef, key: string): DocumentReference {
  return doc(ref.firestore, entryPath(ref.path, validName("key", key)));
}

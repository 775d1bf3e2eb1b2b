/** Reads whether a key counts: the state of a like button. */
import { type DocumentReference, doc, type FirestoreError, getDoc, onSnapshot } from "firebase/firestore";
import { entryPath, validName } from "../../../core/src/index.ts";
import type { Counter, CounterRef } from "./counter.ts";

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
  const entry = entryDoc(ref, key);
  await (ref as Counter)._turn;
  return (await getDoc(entry)).exists();
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
  const counter = ref as Counter;
  /** What the SDK has, or will have when it hears of a committed increment. */
  let stored: boolean | undefined;
  /** Increments that are neither in the SDK's cache nor committed. */
  let unsent = 0;
  let snapshots = 0;
  let shown: boolean | undefined;
  const show = () => {
    const state = unsent > 0 || stored;
    if (state === undefined || state === shown) return;
    shown = state;
    next(state);
  };
  const follow = async (madeWith: string, sent: Promise<true | undefined> | undefined) => {
    if (madeWith !== key) return;
    const before = snapshots;
    unsent++;
    // Not in the call that makes the increment.
    await undefined;
    show();
    const isSent = await sent;
    unsent--;
    if (isSent && snapshots === before) stored = true;
    show();
  };
  counter._entryWatches ??= new Set();
  const watches = counter._entryWatches;
  const stop = onSnapshot(
    entryDoc(ref, key),
    (entry) => {
      snapshots++;
      stored = entry.exists();
      show();
    },
    error &&
      ((reason) => {
        watches.delete(follow);
        error(reason);
      }),
  );
  watches.add(follow);
  return () => {
    watches.delete(follow);
    stop();
  };
}

function entryDoc(ref: CounterRef, key: string): DocumentReference {
  return doc(ref.firestore, entryPath(ref.path, validName("key", key)));
}

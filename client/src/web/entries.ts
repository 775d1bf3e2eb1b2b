/** Reads whether an increment with `once` counts: the state of a like button. */
import {
  type DocumentReference,
  doc,
  type FirestoreError,
  getDoc,
  getDocFromCache,
  onSnapshot,
} from "firebase/firestore";
import { type CounterObserver, entryPath, observing, validName } from "../../../core/src/index.ts";
import { type CounterRef, counterDoc, counterOf, logFailure } from "./counter.ts";

/**
 * Reads whether an increment with this `once` counts, including pending calls of this client. Cost: 1 read. Offline, it resolves
 * only if the entry is cached: with Firestore's persistence, or while `onIncremented` watches it.
 *
 * @throws CounterError `counter/invalid-once`; FirestoreError `permission-denied` (the default rules let users read
 *         only their own entries), `unavailable` when offline and the entry is not in the cache
 *
 * @example
 * ```ts
 * const liked = await getIncremented(counter(db, "likes:post42"), user.uid);
 * ```
 */
export async function getIncremented(ref: CounterRef, once: string): Promise<boolean> {
  const entry = entryDoc(ref, once);
  await counterOf(ref)._turns.get(once);
  return (await getDoc(entry)).exists();
}

/**
 * Watches whether an increment with this `once` counts: tells the observer the current state, once it is known, and each change, at
 * once for changes by this client. Cost: 1 read, and 1 per change.
 *
 * @returns a function that ends the watch
 * @throws CounterError `counter/invalid-once`
 *
 * @example
 * ```ts
 * const stop = onIncremented(likes, user.uid, (liked) => heart.classList.toggle("filled", liked));
 * ```
 */
export function onIncremented(
  ref: CounterRef,
  once: string,
  observer: CounterObserver<boolean, FirestoreError>,
): () => void {
  const [next, error] = observing(observer, logFailure);
  const document = entryDoc(ref, once);
  const counter = counterOf(ref);
  counter._entryWatches ??= new Set();
  const watches = counter._entryWatches;
  /** What the SDK has, or will have when it hears of a call that is committed. */
  let stored: boolean | undefined;
  /** How many calls have no outcome, and whether it counts after the last of them. The SDK's cache may dip: a refused call is made again. */
  let pending = 0;
  let wanted: boolean | undefined;
  let shown: boolean | undefined;
  const show = () => {
    const state = pending > 0 ? wanted : stored;
    if (state === undefined || state === shown || !watches.has(follow)) return;
    shown = state;
    next(state);
  };
  // Not in the call that is followed, which must not fail with `next`.
  const showSoon = () => void Promise.resolve().then(show);
  const follow = async (calledWith: string, counts: boolean, outcome: Promise<unknown>) => {
    if (calledWith !== once) return;
    pending++;
    wanted = counts;
    showSoon();
    await outcome.then(
      () => {
        stored = counts;
      },
      () => {},
    );
    pending--;
    showSoon();
  };
  watches.add(follow);
  const stop = onSnapshot(
    document,
    // Without them, the server's word that there is no entry would not follow that of an empty cache.
    { includeMetadataChanges: true },
    (entry) => {
      const known = () => {
        stored = entry.exists();
        show();
      };
      // An empty cache does not know the entry; one that persists may know that there is none.
      if (entry.exists() || !entry.metadata.fromCache || stored !== undefined) known();
      else
        getDocFromCache(entry.ref).then(
          () => stored ?? known(),
          () => {},
        );
    },
    (reason) => {
      watches.delete(follow);
      error(reason);
    },
  );
  return () => {
    watches.delete(follow);
    stop();
  };
}

function entryDoc(ref: CounterRef, once: string): DocumentReference {
  return doc(counterDoc(ref).firestore, entryPath(ref.path, validName("once", once)));
}

/** Reads whether an increment with `once` counts: the state of a like button. */
import { type DocumentReference, doc, type FirestoreError, getDoc, getDocFromCache } from "firebase/firestore";
import { type CounterObserver, entryPath, observing, validName } from "../../../core/src/index.ts";
import type { OrderedCall } from "./call.ts";
import { type CounterRef, counterDoc, counterOf, logFailure } from "./counter.ts";
import { isUndone } from "./inOrder.ts";
import { keepListening } from "./listening.ts";

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
  await counterOf(ref)._calls.get(once)?._ended;
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
  /** What the SDK shows, or will show when it hears of a call that is committed. */
  let stored: boolean | undefined;
  /** The calls that have no outcome, in their order, and whether it counts after each. */
  const calls = new Map<OrderedCall, boolean>();
  /** Those that the SDK has shown from its queue. From then on, it shows whether the user who is signed in has them there. */
  const seenInQueue = new WeakSet<OrderedCall>();
  let shown: boolean | undefined;
  let hasFailed = false;
  const show = () => {
    let state = stored;
    // Before a call is in the queue, and while it is refused and made again, the SDK shows what was before.
    for (const [call, counts] of calls) if (!call._isQueued || !seenInQueue.has(call)) state = counts;
    if (state === undefined || state === shown || hasFailed || !watches.has(follow)) return;
    shown = state;
    next(state);
  };
  // Not in the call that is followed, which must not fail with `next`.
  const showSoon = () => void Promise.resolve().then(show);
  const follow = async (call: OrderedCall, counts: boolean, outcome: Promise<unknown>) => {
    if (call._once !== once) return;
    calls.set(call, counts);
    showSoon();
    await outcome.then(
      () => {
        // Unless a later call, which may have an outcome already, does the opposite.
        if (isUndone(counter, once) !== counts) stored = counts;
      },
      () => {},
    );
    calls.delete(call);
    showSoon();
  };
  watches.add(follow);
  const entryRead = (exists: boolean) => {
    stored = exists;
    for (const [call, counts] of calls) if (call._isQueued && counts === exists) seenInQueue.add(call);
    show();
  };
  const stop = keepListening(
    document,
    (entry) => {
      hasFailed = false;
      const exists = entry.exists();
      // The server's word that there is no entry follows that of an empty cache, which does not know; one that persists may know.
      if (exists || !entry.metadata.fromCache || stored !== undefined) entryRead(exists);
      else
        getDocFromCache(entry.ref).then(
          () => stored ?? entryRead(false),
          () => {},
        );
    },
    (reason) => {
      hasFailed = true;
      stored = undefined;
      shown = undefined;
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

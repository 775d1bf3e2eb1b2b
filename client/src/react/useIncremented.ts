/** A hook for whether a key counts: the state of a like button. */
import { type CounterRef, onIncremented } from "firestore-tally";
import { useMemo, useSyncExternalStore } from "react";

/** Whether a key counts, as a component sees it. */
export interface UseIncremented {
  /** `undefined` until it is known, and without a key. Changes at once for increments and undos of this client. */
  readonly incremented: boolean | undefined;
  /** Why the watch has ended. */
  readonly error: Error | undefined;
}

const UNKNOWN: UseIncremented = { incremented: undefined, error: undefined };

/**
 * Watches whether the counter counts for a key while the component is mounted. Works in StrictMode; on the server
 * `incremented` is `undefined`.
 *
 * Cost: 1 read, and 1 per change.
 *
 * @param key - the key of the increment, such as the user's uid; `undefined` without one, as before sign-in
 * @throws CounterError `counter/invalid-key`
 *
 * @example
 * ```ts
 * function Like({ user }: { user: User | null }) {
 *   const likes = counter(db, "likes:post42");
 *   const { total, increment } = useCounter(likes);
 *   const { incremented } = useIncremented(likes, user?.uid);
 *   const like = () => (incremented ? undoIncrement(likes, user!.uid).catch(alert) : increment(1, { key: user!.uid }));
 *   return <button disabled={incremented === undefined} onClick={like}>{incremented ? "♥" : "♡"} {total ?? "…"}</button>;
 * }
 * ```
 */
export function useIncremented(ref: CounterRef, key: string | undefined): UseIncremented {
  const store = useMemo(() => incrementedStore(ref, key), [ref, key]);
  return useSyncExternalStore(store.subscribe, store.getSnapshot, () => UNKNOWN);
}

function incrementedStore(ref: CounterRef, key: string | undefined) {
  let state = UNKNOWN;
  return {
    getSnapshot: () => state,
    subscribe(notify: () => void): () => void {
      if (key === undefined) return () => {};
      const setState = (next: UseIncremented) => {
        state = next;
        notify();
      };
      return onIncremented(
        ref,
        key,
        (incremented) => setState({ incremented, error: undefined }),
        (error) => setState({ ...state, error }),
      );
    },
  };
}

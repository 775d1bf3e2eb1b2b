/** A hook for whether an increment with `once` counts: the state of a like button. */
import { type CounterRef, onIncremented } from "firestore-tally";
import { useEffect, useMemo, useRef, useSyncExternalStore } from "react";

/** Options of {@link useIncremented}. */
export interface UseIncrementedOptions {
  /** Called when the watch fails. It tries again until it works. Default: `console.error` */
  onError?: ((error: Error) => void) | undefined;
}

/**
 * Watches whether an increment with this `once` counts while the component is mounted. Works in StrictMode.
 *
 * Cost: 1 read, and 1 per change.
 *
 * @param once - the `once` of the increment, such as the user's uid; `undefined` without one, as before sign-in
 * @returns `undefined` until it is known, on the server, without `once`, and while the watch fails. Changes at once for
 *          increments and undos of this client
 * @throws CounterError `counter/invalid-once`
 *
 * @example
 * ```ts
 * function Like({ user }: { user: User | null }) {
 *   const likes = counter(db, "likes:post42");
 *   const { total, increment } = useCounter(likes);
 *   const liked = useIncremented(likes, user?.uid);
 *   const like = () => (liked ? undoIncrement(likes, user!.uid).catch(alert) : increment(1, { once: user!.uid }));
 *   return <button disabled={liked === undefined} onClick={like}>{liked ? "♥" : "♡"} {total ?? "…"}</button>;
 * }
 * ```
 */
export function useIncremented(
  ref: CounterRef,
  once: string | undefined,
  { onError }: UseIncrementedOptions = {},
): boolean | undefined {
  const current = useRef(onError);
  useEffect(() => {
    current.current = onError;
  }, [onError]);
  const store = useMemo(() => incrementedStore(ref, once, current), [ref, once]);
  return useSyncExternalStore(store.subscribe, store.getSnapshot, () => undefined);
}

function incrementedStore(
  ref: CounterRef,
  once: string | undefined,
  onError: { readonly current: ((error: Error) => void) | undefined },
) {
  let state: boolean | undefined;
  return {
    getSnapshot: () => state,
    subscribe(notify: () => void): () => void {
      if (once === undefined) return () => {};
      const become = (next?: boolean) => {
        state = next;
        notify();
      };
      return onIncremented(ref, once, {
        next: become,
        error(error) {
          become();
          (onError.current ?? console.error)(error);
        },
      });
    },
  };
}

/** A counter as a store: what Svelte calls a store, and what `useSyncExternalStore` of React wants. */
import type { FirestoreError } from "firebase/firestore";
import type { CounterRef } from "./counter.ts";
import type { CounterSnapshot } from "./read.ts";
import { type WatchOptions, watchCounter } from "./watch.ts";

/** The last snapshot; before the first, `pending` alone or nothing. `error` once the watch has failed. */
export type CounterState = Partial<CounterSnapshot> & { readonly error?: FirestoreError };

/** What Svelte and RxJS call an observable state. */
export interface CounterStore {
  /** Calls `next` now and on every change. @returns a function that unsubscribes */
  subscribe(next: (state: CounterState) => void): () => void;
  /** The state now. The same object until it changes. */
  getSnapshot(): CounterState;
}

/**
 * Makes a store of a counter. It watches while it has a subscriber. Cost: as `onCounter`.
 *
 * @example
 * ```ts
 * const likes = counterStore(counter(db, "likes:post42")); // Svelte: {$likes.total ?? "…"}
 * ```
 */
export function counterStore(ref: CounterRef, options?: WatchOptions): CounterStore {
  const subscribers = new Set<(state: CounterState) => void>();
  let state: CounterState = {};
  let stop: (() => void) | undefined;
  const become = (next: CounterState) => {
    state = next;
    for (const subscriber of [...subscribers]) subscriber(state);
  };
  return {
    subscribe(next) {
      // A function of its own: the same one may subscribe twice.
      const subscriber = (state: CounterState) => next(state);
      subscribers.add(subscriber);
      stop ??= watchCounter(ref, become, (error) => become({ ...state, error }), options);
      next(state);
      return () => {
        subscribers.delete(subscriber);
        if (subscribers.size > 0) return;
        stop?.();
        stop = undefined;
        // Without a total it says no more than what was pending.
        if (state.total === undefined) state = {};
      };
    },
    getSnapshot: () => state,
  };
}

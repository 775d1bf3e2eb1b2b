/** A counter as a store, for Svelte and for `useSyncExternalStore` of React. */
import type { FirestoreError } from "firebase/firestore";
import type { CounterRef } from "./counter.ts";
import type { CounterSnapshot, ServedCounterSnapshot } from "./read.ts";
import { type CounterWatchOptions, type ServedCounterWatchOptions, watchCounter } from "./watch.ts";

/** The last snapshot; before the first one, `pending` alone or nothing. `error` after the watch has failed. */
export type CounterState = Partial<CounterSnapshot> & { readonly error?: FirestoreError };

/** As {@link CounterState}, of a store whose totals come by HTTP. */
export type ServedCounterState = Partial<ServedCounterSnapshot> & { readonly error?: FirestoreError };

/** A store: a state and its subscribers. */
export interface CounterStore<State = CounterState> {
  /** Calls `next` with the current state and after each change. @returns a function that unsubscribes */
  subscribe(next: (state: State) => void): () => void;
  /** The current state. The same object until it changes. */
  getSnapshot(): State;
}

/**
 * Makes a store of a counter whose totals come from the function `totals`. Cost: as `onCounter` with `via`.
 *
 * @example
 * ```ts
 * const views = counterStore(counter(db, "views:home"), { via: "https://example.com/totals" });
 * ```
 */
export function counterStore(ref: CounterRef, options: ServedCounterWatchOptions): CounterStore<ServedCounterState>;
/**
 * Makes a store of a counter. It watches while it has a subscriber. Cost: as `onCounter`.
 *
 * @example
 * ```ts
 * const likes = counterStore(counter(db, "likes:post42")); // Svelte: {$likes.total ?? "…"}
 * ```
 */
export function counterStore(ref: CounterRef, options?: CounterWatchOptions): CounterStore;
export function counterStore(ref: CounterRef, options?: CounterWatchOptions): CounterStore {
  const subscribers = new Set<(state: CounterState) => void>();
  let state: CounterState = {};
  let stop: (() => void) | undefined;
  const become = (next: CounterState) => {
    // Before its first total, a new watch reports only whether increments are pending.
    state = next.total === undefined ? { ...state, ...next } : next;
    // One may end another.
    for (const subscriber of [...subscribers]) if (subscribers.has(subscriber)) subscriber(state);
  };
  return {
    subscribe(next) {
      // A new function, because the same `next` may subscribe twice.
      const subscriber = (state: CounterState) => next(state);
      subscribers.add(subscriber);
      stop ??= watchCounter(ref, become, (error) => become({ ...state, error }), options);
      next(state);
      return () => {
        subscribers.delete(subscriber);
        if (subscribers.size > 0) return;
        stop?.();
        stop = undefined;
        // `pending` is out of date at the next subscription.
        if (state.total === undefined) state = {};
      };
    },
    getSnapshot: () => state,
  };
}

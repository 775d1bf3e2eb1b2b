/** A counter as a store, for Svelte and for `useSyncExternalStore` of React. */
import type { FirestoreError } from "firebase/firestore";
import type { CounterRef } from "./counter.ts";
import type { CounterSnapshot, ServedCounterSnapshot } from "./read.ts";
import { type CounterWatchOptions, type ServedCounterWatchOptions, watchCounter } from "./watch.ts";

/** What is shown before the first total. */
export interface InitialTotalOptions {
  /**
   * The total that the page was rendered with: pass the `total` and `version` of `getCounter` of the server. It is shown, plus this
   * client's increments, until a total with the same or a larger version arrives. A plain number has no version: it is shown until a
   * total arrives from the server, not from the cache.
   */
  initialTotal?: number | { readonly total: number; readonly version: number } | undefined;
}

/** Options of a store. */
export type CounterStoreOptions = CounterWatchOptions & InitialTotalOptions;

/** As {@link CounterStoreOptions}, of a store whose totals come by HTTP. */
export type ServedCounterStoreOptions = ServedCounterWatchOptions & InitialTotalOptions;

/** The last snapshot; before the first one, `pending` and the initial total alone or nothing. `error` while the watch fails. */
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
export function counterStore(ref: CounterRef, options: ServedCounterStoreOptions): CounterStore<ServedCounterState>;
/**
 * Makes a store of a counter. It watches while it has a subscriber. Cost: as `onCounter`.
 *
 * @example
 * ```ts
 * const likes = counterStore(counter(db, "likes:post42")); // Svelte: {$likes.total ?? "…"}
 * ```
 */
export function counterStore(ref: CounterRef, options?: CounterStoreOptions): CounterStore;
export function counterStore(ref: CounterRef, options: CounterStoreOptions = {}): CounterStore {
  const subscribers = new Set<(state: CounterState) => void>();
  const { initialTotal } = options;
  let first = typeof initialTotal === "number" ? { total: initialTotal, version: undefined } : initialTotal;
  const initial: CounterState = first ? { total: first.total } : {};
  let state = initial;
  let stop: (() => void) | undefined;
  const become = (next: CounterState) => {
    // Before its first snapshot, a new watch reports only `pending`, and perhaps a total.
    const { error: _, ...known } = state;
    state = "asOf" in next ? next : { ...known, ...next };
    // At the next subscription, the rendered total is old.
    if ("asOf" in next) first = undefined;
    // One may end another.
    for (const subscriber of [...subscribers]) if (subscribers.has(subscriber)) subscriber(state);
  };
  return {
    subscribe(next) {
      // A new function, because the same `next` may subscribe twice.
      const subscriber = (state: CounterState) => next(state);
      // A new subscriber learns whether the watch works now.
      if (state.error) {
        stop?.();
        stop = undefined;
        become({});
      }
      subscribers.add(subscriber);
      stop ??= watchCounter(ref, become, (error) => become({ ...state, error }), options, first);
      next(state);
      return () => {
        subscribers.delete(subscriber);
        if (subscribers.size > 0) return;
        stop?.();
        stop = undefined;
        // `pending` is out of date at the next subscription.
        if (state.total === undefined) state = initial;
      };
    },
    getSnapshot: () => state,
  };
}

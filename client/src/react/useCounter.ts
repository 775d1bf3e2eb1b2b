/** A hook for the total of a counter. */
import {
  type CounterRef,
  counterStore,
  type IncrementOptions,
  type InitialTotalOptions,
  incrementCounter,
} from "firestore-tally";
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";

/** What to render, also on the server, before the first total arrives, and where totals come from. */
export interface UseCounterOptions extends InitialTotalOptions {
  /** The URL of the function `totals`, to read from it instead of by a listener: see `ServedCounterWatchOptions`. */
  via?: string | undefined;
}

/** A counter as a component sees it. */
export interface UseCounter {
  /** `initialTotal` or `undefined` until the first total arrives. It holds increments of this client at once. */
  readonly total: number | undefined;
  /** Whether this user has increments that the server has not acknowledged yet; before the first total, too. */
  readonly pending: boolean;
  /** Why the watch fails, until it works again; otherwise, why the last increment failed. */
  readonly error: Error | undefined;
  /** Calls `incrementCounter`. Never rejects: `error` has the reason of a failure. */
  readonly increment: (by?: number, options?: IncrementOptions) => Promise<void>;
}

/**
 * Watches a counter while the component is mounted. Works in StrictMode and renders on the server.
 *
 * Cost: 1 read per new total, none with `via`; components with the same counter share it.
 *
 * @example
 * ```ts
 * function Views() {
 *   const { total, increment } = useCounter(counter(db, "views:home"));
 *   return <button onClick={() => increment()}>{total ?? "…"} views</button>;
 * }
 * ```
 */
export function useCounter(ref: CounterRef, options: UseCounterOptions = {}): UseCounter {
  const { initialTotal, via } = options;
  // biome-ignore lint/correctness/useExhaustiveDependencies: later initial totals are not initial
  const store = useMemo(() => counterStore(ref, { via, initialTotal }), [ref, via]);
  const state = useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot);
  const [failure, setFailure] = useState<{ store: unknown; error: Error }>();
  const current = useRef(store);
  useEffect(() => {
    current.current = store;
  }, [store]);
  const increment = useCallback(
    // An amount that is passed and `undefined` is refused, as by `incrementCounter`.
    async (...given: [by?: number, options?: IncrementOptions]) => {
      try {
        await incrementCounter(ref, ...given);
        if (current.current === store) setFailure(undefined);
      } catch (error) {
        if (current.current === store) setFailure({ store, error: error as Error });
      }
    },
    [ref, store],
  );
  return {
    total: state.total,
    pending: state.pending ?? false,
    // Not the failure of a counter that the component showed before.
    error: state.error ?? (failure?.store === store ? failure.error : undefined),
    increment,
  };
}

/** A hook for the total of a counter. */
import {
  type CounterRef,
  counterStore,
  type IncrementOptions,
  incrementCounter,
  type ServedCounterState,
} from "firestore-tally";
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";

/** What to render before the first total arrives, and where totals come from. */
export interface UseCounterOptions {
  /** The total to render on the server and until the first one arrives: read it on the server with `getCounter`. */
  initialTotal?: number | undefined;
  /** The URL of the function `totals`, to read from it instead of by a listener: see `ServedCounterWatchOptions`. */
  via?: string | undefined;
}

/** A counter as a component sees it. */
export interface UseCounter {
  /** `initialTotal` or `undefined` until the first total arrives. From then on it holds increments of this client at once. */
  readonly total: number | undefined;
  /** Whether this client has increments that the server has not acknowledged yet; before the first total, too. */
  readonly pending: boolean;
  /** Why the watch has ended; otherwise, why the last increment failed. */
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
  const store = useMemo(() => counterStore(ref, { via }), [ref, via]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another store is not known yet
  const isKnown = useMemo(knowing, [store]);
  const initial = useMemo<ServedCounterState>(
    () => (initialTotal === undefined ? {} : { total: initialTotal }),
    [initialTotal],
  );
  const state = useSyncExternalStore(store.subscribe, store.getSnapshot, () => initial);
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
  const isUnknown = state !== initial && state.total !== undefined && !isKnown(state);
  return {
    total: isUnknown && initialTotal !== undefined ? initialTotal + (state.total ?? 0) : (state.total ?? initialTotal),
    pending: state.pending ?? false,
    // Not the failure of a counter that the component showed before.
    error: state.error ?? (failure?.store === store ? failure.error : undefined),
    increment,
  };
}

/**
 * Whether a store has had a total. An empty cache knows none: then there are only the increments of this client, which are pending at
 * first.
 */
function knowing(): (state: ServedCounterState) => boolean {
  let isKnown = false;
  return ({ total, asOf, fromCache, pending }) => {
    isKnown ||= !fromCache || !!asOf || (total !== 0 && !pending);
    return isKnown;
  };
}

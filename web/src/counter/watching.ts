/** Hooks that watch a counter while the page is seen. */
import { type CounterRef, type CounterSnapshot, onCounter } from "firestore-tally";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Backend } from "../firebase/backend.ts";
import { cold, type Heat, heatOf } from "./heat.ts";
import { NOTHING_SEEN, type Seen, see } from "./history.ts";
import { onPublished, type Published } from "./published.ts";
import { type Look, lookAtShards } from "./shards.ts";

/** What is said while all there is comes from the cache. */
export const NO_ANSWER = "Firestore does not answer. It is asked again and again.";

export interface Watched<Value> {
  /** `undefined` before the first has come. */
  readonly value: Value | undefined;
  readonly error: Error | undefined;
}

/** The total with this browser's own increments. Cost: 1 read per publish. */
export function useTotal(ref: CounterRef, visible: boolean): Watched<CounterSnapshot> {
  const [state, setState] = useState<Watched<CounterSnapshot>>({ value: undefined, error: undefined });
  useEffect(() => {
    if (!visible) return;
    return onCounter(
      ref,
      (value) => setState({ value, error: undefined }),
      (error) => setState(({ value }) => ({ value, error })),
    );
  }, [ref, visible]);
  return state;
}

export interface SeenCounter extends Watched<Seen> {
  readonly fromCache: boolean;
  /** Whether the counter has been asked for and has no published total. */
  readonly isNew: boolean;
}

/** @param published  told of each publish, when it is seen */
export function useSeen(
  backend: Backend,
  id: string,
  visible: boolean,
  published?: (published: Published) => void,
): SeenCounter {
  const [state, setState] = useState<SeenCounter>({
    value: NOTHING_SEEN,
    error: undefined,
    fromCache: false,
    isNew: false,
  });
  const told = useRef(published);
  told.current = published;
  useEffect(() => {
    if (!visible) return;
    return onPublished(
      backend,
      id,
      (next, fromCache) => {
        if (next) told.current?.(next);
        setState(({ value = NOTHING_SEEN }) => ({
          value: next ? see(value, next) : value,
          error: undefined,
          fromCache,
          isNew: !next && !fromCache,
        }));
      },
      (error) => setState((state) => ({ ...state, error })),
    );
  }, [backend, id, visible]);
  return state;
}

export interface Looked {
  readonly heat: Heat | undefined;
  /** Documents read for it. */
  readonly reads: number;
}

/** What the next look is compared with, and whether one is under way. */
interface Looking {
  look: Look | undefined;
  heat: Heat | undefined;
  underWay: boolean;
  /** Something was published meanwhile. */
  again: boolean;
}

/** A counter that was not published for so long, longer than any busy one, has not been written to. */
const COLD_MS = 12_000;

/**
 * Looks at the shards whenever a total is published, since only then something can have happened. One look at a time. If
 * nothing is published any more, they have cooled down.
 *
 * @param asOf  of the last publish; `undefined` to look at nothing
 */
export function useShards(backend: Backend, id: string, asOf: number | undefined): Looked {
  const [looked, setLooked] = useState<Looked>({ heat: undefined, reads: 0 });
  const state = useRef<Looking>({ look: undefined, heat: undefined, underWay: false, again: false }).current;
  useEffect(() => {
    if (asOf === undefined) return;
    const show = (heat: Heat | undefined, more: number) => {
      state.heat = heat;
      setLooked(({ reads }) => ({ heat, reads: reads + more }));
    };
    const run = async () => {
      state.underWay = true;
      do {
        state.again = false;
        // Offline, there is nothing to see; the next publish looks again.
        const look = await lookAtShards(backend, id).catch(() => undefined);
        if (!look) continue;
        show(heatOf(look, state.look, state.heat), Math.max(look.shards.length, 1));
        state.look = look;
      } while (state.again);
      state.underWay = false;
    };
    if (state.underWay) state.again = true;
    else run();
    const cooled = setTimeout(() => show(state.heat && cold(state.heat), 0), COLD_MS);
    return () => clearTimeout(cooled);
  }, [backend, id, asOf, state]);
  return looked;
}

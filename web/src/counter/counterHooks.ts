/** Hooks that watch a counter while the page is visible. */
import { type CounterRef, type CounterSnapshot, onCounter } from "firestore-tally";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Connection } from "../firebase/connection.ts";
import { listShards, type ShardListing } from "./listShards.ts";
import { type AllRegions, onPublished, type Published } from "./published.ts";
import { EMPTY_LOG, logPublish, type PublishLog } from "./publishLog.ts";
import { INACTIVE_MS } from "./rate.ts";
import { type ShardActivity, shardActivity, withoutWrites } from "./shardActivity.ts";

/** Shown while all data comes from the cache. */
export const NOT_ANSWERING = "Firestore does not answer. Retrying…";

export interface Watched<Value> {
  /** `undefined` until the first one arrives. */
  readonly value: Value | undefined;
  readonly error: Error | undefined;
}

/** The total with this browser's own increments. Cost: 1 read per publish. */
export function useTotal(ref: CounterRef, visible: boolean): Watched<CounterSnapshot> {
  const [state, setState] = useState<Watched<CounterSnapshot>>({ value: undefined, error: undefined });
  useEffect(() => {
    if (!visible) return;
    return onCounter(ref, {
      next: (value) => setState({ value, error: undefined }),
      error: (error) => setState((state) => ({ ...state, error })),
    });
  }, [ref, visible]);
  return state;
}

export interface PublishedCounter extends Watched<PublishLog> {
  /** `undefined` with one region alone. */
  readonly regions: AllRegions | undefined;
  readonly fromCache: boolean;
  /** Whether the server has answered since the tab became visible, and still does: then what is old is late. */
  readonly isCurrent: boolean;
  /** Whether the server says that the counter has no total. */
  readonly isNew: boolean;
  /** Whether the server says that there is no document. */
  readonly isMissing: boolean;
}

/** @param published  called on each publish that the page sees */
export function usePublishLog(
  connection: Connection,
  id: string,
  visible: boolean,
  published?: (published: Published) => void,
): PublishedCounter {
  const [state, setState] = useState<PublishedCounter>({
    value: EMPTY_LOG,
    regions: undefined,
    error: undefined,
    fromCache: false,
    isCurrent: false,
    isNew: false,
    isMissing: false,
  });
  const onPublish = useRef(published);
  onPublish.current = published;
  useEffect(() => {
    if (!visible) return;
    const stop = onPublished(
      connection,
      id,
      (next, regions, document) => {
        const { fromCache } = document.metadata;
        if (next) onPublish.current?.(next);
        setState(({ value = EMPTY_LOG }) => ({
          value: next ? logPublish(value, next) : value,
          regions,
          error: undefined,
          fromCache,
          isCurrent: !fromCache,
          isNew: !next && !fromCache,
          isMissing: !document.exists() && !fromCache,
        }));
      },
      (error) => setState((state) => ({ ...state, error })),
    );
    return () => {
      stop();
      setState((state) => ({ ...state, isCurrent: false }));
    };
  }, [connection, id, visible]);
  return state;
}

export interface ObservedShards {
  readonly activity: readonly ShardActivity[] | undefined;
  /** Documents read for it. */
  readonly reads: number;
}

interface ListingState {
  previous: ShardListing | undefined;
  activity: readonly ShardActivity[] | undefined;
  isListing: boolean;
  /** A total was published during the listing. */
  isOutdated: boolean;
}

/**
 * Lists the shards after each publish, one listing at a time: nothing else shows that they have changed. Without further
 * publishes their activity ends.
 *
 * @param asOf  of the last publish; `undefined` to list nothing
 */
export function useShardActivity(connection: Connection, id: string, asOf: number | undefined): ObservedShards {
  const [observed, setObserved] = useState<ObservedShards>({ activity: undefined, reads: 0 });
  const state = useRef<ListingState>({
    previous: undefined,
    activity: undefined,
    isListing: false,
    isOutdated: false,
  }).current;
  useEffect(() => {
    if (asOf === undefined) return;
    const show = (activity: readonly ShardActivity[] | undefined, newReads: number) => {
      state.activity = activity;
      setObserved(({ reads }) => ({ activity, reads: reads + newReads }));
    };
    const list = async () => {
      state.isListing = true;
      do {
        state.isOutdated = false;
        // Offline there is no listing; the next publish tries again.
        const listing = await listShards(connection, id).catch(() => undefined);
        if (!listing) continue;
        show(shardActivity(listing, state.previous, state.activity), Math.max(listing.shards.length, 1));
        state.previous = listing;
      } while (state.isOutdated);
      state.isListing = false;
    };
    if (state.isListing) state.isOutdated = true;
    else list();
    const timer = setTimeout(() => show(state.activity && withoutWrites(state.activity), 0), INACTIVE_MS);
    return () => clearTimeout(timer);
  }, [connection, id, asOf, state]);
  return observed;
}

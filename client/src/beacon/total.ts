/** Totals without the Firebase SDK: read from the function `totals`, with the amounts of this page's beacon at once. */
import type { CounterObserver } from "../../../core/src/observer.ts";
import type { Batch, Beacon, BeaconState } from "./beacon.ts";
import { callSafely } from "./callSafely.ts";
import { failure } from "./failure.ts";
import { isFinal, poll } from "./poll.ts";

/** A total as a page without the Firebase SDK sees it. */
export interface BeaconTotal {
  /** The published total, and the amounts of the beacon that it does not include yet; 0 for a counter that was never published. */
  readonly total: number;
  /** The instant for which the published total is exact, in milliseconds since the epoch; `null` without one. */
  readonly asOf: number | null;
}

/** Options of {@link onTotal}. */
export interface BeaconTotalOptions {
  /** A beacon of this page: its amounts show at once. */
  beacon?: Beacon | undefined;
}

/** A read that has failed: `counter/unavailable`. */
export interface BeaconTotalError extends Error {
  /** The status of the answer; 0 without one of the function. */
  readonly status: number;
}

/** An observer of either kind. */
type BeaconObserver = ((total: BeaconTotal) => void) & {
  next?(total: BeaconTotal): void;
  error?(error: BeaconTotalError): void;
};

/** So long after its acknowledgement, an amount is taken to be in the last total, if no later one was published. */
const MAX_SHOWN_MS = 30_000;

/** The failure that the console is told of. With the backoff, it comes after about a minute. */
const TOLD_FAILURE = 6;

/**
 * Watches a total by asking the function `totals` for it, without the Firebase SDK: as often as the answer's `max-age` says, at
 * most once a second, and only while the page is visible. Tells the observer each change. An older total never follows a newer
 * one, so a counter that is deleted keeps its last total.
 *
 * If a read fails, `error` of the observer is called. After a refusal of the function with a status of 4xx, except 408 and 429, the watch
 * has ended; otherwise it goes on, with exponential backoff. Without `error`, `console.error` tells that the watch has ended, or has failed
 * for about a minute.
 *
 * All watches of one URL in a page share their requests. Cost: 1 request per interval, which a cache may answer.
 *
 * @param url - of the function `totals`
 * @param id - of the counter, without a comma
 * @returns a function that ends the watch
 * @throws Error `counter/invalid-id` for an id with a comma, or with half of a surrogate pair
 *
 * @example
 * ```ts
 * const site = beacon("https://example.com/ingest");
 * const stop = onTotal("https://example.com/totals", "views:home", ({ total }) => { label.textContent = `${total} views`; }, {
 *   beacon: site,
 * });
 * ```
 */
export function onTotal(
  url: string,
  id: string,
  observer: CounterObserver<BeaconTotal, BeaconTotalError>,
  { beacon }: BeaconTotalOptions = {},
): () => void {
  // Not by `observing`, which would take more of the size of a beacon.
  const told = observer as BeaconObserver;
  if (/,|\p{Cs}/u.test(id)) throw failure("counter/invalid-id", `${id}; pass an id without a comma`);
  const source = beacon as BeaconState | undefined;
  /** Batches that the last total may not include, and until when they show. */
  const own = new Map<Batch, number>();
  let published: BeaconTotal | undefined;
  let shown = "";
  const show = () => {
    for (const batch of source?._batches ?? []) own.set(batch, Number.POSITIVE_INFINITY);
    if (!published) return;
    let { total, asOf } = published;
    for (const [batch, until] of own) {
      const { _at, _events } = batch;
      // Its commit may be before the last total, if its first acknowledgement was lost. Then no later total may follow.
      if (_at && until === Number.POSITIVE_INFINITY) own.set(batch, performance.now() + MAX_SHOWN_MS);
      if ((_at && _at < (asOf ?? 0)) || performance.now() > until) own.delete(batch);
      else for (const event of _events) if (event.counter === id) total += event.by;
    }
    const state = { total, asOf };
    const text = JSON.stringify(state);
    if (shown === text) return;
    shown = text;
    callSafely(() => (told.next ? told.next(state) : told(state)));
  };
  const stopPolling = poll(url, {
    id,
    received(answer) {
      const newer = answer ?? { total: 0, asOf: null };
      if (!published || (newer.asOf ?? 0) > (published.asOf ?? 0)) published = newer;
      show();
    },
    failed(error, failures) {
      if (told.error) told.error(error);
      else if (isFinal(error.status) || failures === TOLD_FAILURE) console.error(error);
    },
  });
  if (source) listenersOf(source).add(show);
  // Nothing is published yet. So this only keeps the amounts that are acknowledged before the first answer.
  show();
  return () => {
    stopPolling();
    source?._listeners?.delete(show);
  };
}

function listenersOf(source: BeaconState): Set<() => void> {
  const listeners = source._listeners ?? new Set<() => void>();
  source._listeners = listeners;
  source._counted = () => {
    for (const listener of listeners) listener();
  };
  return listeners;
}

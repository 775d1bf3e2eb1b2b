/** Watches of a counter: its totals, and this client's own increments in between. */
import { type DocumentSnapshot, type FirestoreError, getDocFromCache } from "firebase/firestore";
import {
  type CounterObserver,
  DIRECT_SLOTS,
  type HasMark,
  type IncrementPlan,
  microsOf,
  OptimisticTotal,
  observing,
  type ReadDirect,
  type TotalRead,
  toServedSnapshot,
  toSnapshot,
  UNPUBLISHED,
} from "../../../core/src/index.ts";
import { type CounterRef, counterDoc, counterOf, documentRead, logFailure } from "./counter.ts";
import { keepListening } from "./listening.ts";
import { ownIncrements } from "./ownIncrements.ts";
import type { CounterSnapshot, ServedCounterSnapshot } from "./read.ts";
import { timeFor } from "./timeFor.ts";
import { hasMark } from "./writes.ts";

/** Options of a watch. */
export interface CounterWatchOptions {
  /** Whether the total includes increments of this client at once, before they are published. Default `true`. */
  optimistic?: boolean | undefined;
}

/** Options of a watch by HTTP. */
export interface ServedCounterWatchOptions extends CounterWatchOptions {
  /**
   * The URL of the function `totals`: totals are read from it instead of by a listener, as often as its `max-age` says. If the URL
   * fails three times in a row or refuses the counter, the watch falls back to a listener, and the console tells so once. While it
   * answers 429, a watch that has a total waits. A counter that is deleted keeps its last total. `undefined` for a listener.
   */
  via: string | undefined;
}

/**
 * Watches the total as published by the function `totals`, for crowds: as often as its answers' `max-age` says, with this client's own
 * increments as by a listener. Snapshots have what the function knows.
 *
 * Cost: no read; 1 request per interval for all counters of the page.
 *
 * @returns a function that ends the watch
 *
 * @example
 * ```ts
 * const stop = onCounter(views, ({ total }) => show(total), { via: "https://example.com/totals" });
 * ```
 */
export function onCounter(
  ref: CounterRef,
  observer: CounterObserver<ServedCounterSnapshot, FirestoreError>,
  options: ServedCounterWatchOptions,
): () => void;
/**
 * Watches the total: tells the observer the current total and each new one (of a publish, at most about once a second; of a direct
 * increment, at once), and increments of this client at once. While totals arrive, increments of the counter do not read its shard count
 * unless writes are contended.
 *
 * Every total includes this client's own increments exactly once from the moment they are made; with `optimistic: false`, and for
 * those in batches and transactions of yours, from their publish. Acknowledgement and publish may come in any order.
 *
 * Cost: 1 read per new total: each publish, and each direct increment of any client.
 *
 * @returns a function that ends the watch
 *
 * @example
 * ```ts
 * const stop = onCounter(views, ({ total }) => { label.textContent = `${total} views`; });
 * const other = onCounter(views, { next: show, error: (reason) => warn(reason.code) });
 * ```
 */
export function onCounter(
  ref: CounterRef,
  observer: CounterObserver<CounterSnapshot, FirestoreError>,
  options?: CounterWatchOptions,
): () => void;
export function onCounter(
  ref: CounterRef,
  observer: CounterObserver<CounterSnapshot, FirestoreError>,
  options?: CounterWatchOptions,
): () => void {
  const [next, error] = observing(observer, logFailure);
  return watchCounter(ref, (state) => "asOf" in state && next(state as CounterSnapshot), error, options);
}

/**
 * As {@link onCounter}. Before the first snapshot, it also reports `pending`, and a total that another watch or the page's markup has
 * given. With `via`, the states are those of a {@link ServedCounterSnapshot}.
 *
 * @param initialTotal - the total that the page was rendered with
 */
export function watchCounter(
  ref: CounterRef,
  next: (state: Partial<CounterSnapshot>) => void,
  error: (error: FirestoreError) => void,
  { optimistic = true, via }: Partial<ServedCounterWatchOptions> = {},
  initialTotal?: Pick<TotalRead, "total" | "version">,
): () => void {
  const counter = counterOf(ref);
  const watched = counterDoc(counter);
  const own = optimistic ? ownIncrements(counter) : undefined;
  const total = own ?? new OptimisticTotal();
  if (initialTotal) total._totalRead({ ...initialTotal, asOf: 0, source: "page", hasMark: () => false });
  /** The time that the server's clock is ahead of this device's, as far as it decides which windows are over. */
  let clockAhead = 0;
  let timedDocument: unknown;
  let published: Partial<Shown> | undefined;
  let shown = '{"pending":false}';
  let stop: (() => void) | undefined;
  let hasEnded = false;
  let hasFailed = false;
  let isListening = false;
  /** Whether the SDK shows the document with writes that the server has not acknowledged. */
  let isUnsent = false;
  let isServed = false;
  const show = () => {
    const state: Partial<Shown> = { ...published };
    if (own) {
      if (own._isRead) state.total = own._total;
      // Increments of this client count in its region, and so in the sum of all.
      if (published?.globalTotal !== undefined)
        state.globalTotal = published.globalTotal - (published.total as number) + own._total;
    }
    state.pending = isUnsent || !!own?._pending;
    const text = JSON.stringify(state);
    if (shown === text || hasFailed || hasEnded || (!via && own?._isUnsure())) return;
    shown = text;
    next(state);
  };
  const read = (document: Fields, fromCache: boolean, pending?: boolean, hasMark?: HasMark) => {
    const latest: Shown | ServedCounterSnapshot = via
      ? toServedSnapshot(document, fromCache)
      : toSnapshot(document, fromCache, Date.now() + clockAhead, pending);
    const isAccepted = total._totalRead({
      ...latest,
      asOf: microsOf(latest.asOf) || (document.get("direct") && !pending ? UNPUBLISHED : 0),
      // To pending increments, the SDK adds what it showed before.
      source: via ? "copy" : fromCache || pending ? "cache" : "server",
      hasMark,
    });
    // The rest of an older document is told until a newer one is here.
    if (!isAccepted && (published || !own)) return;
    published = latest;
    show();
    if (via || fromCache || document === timedDocument) return;
    timedDocument = document;
    timeFor(ref, [document]).then((now) => {
      if (now) clockAhead = now - Date.now();
      if (now && published === latest && !hasEnded) read(document, fromCache, pending, hasMark);
    });
  };
  const received = (snapshot: DocumentSnapshot) => {
    const { fromCache, hasPendingWrites } = snapshot.metadata;
    const direct: ReadDirect = snapshot.get("direct");
    own?._documentChanged(snapshot);
    isUnsent = hasPendingWrites;
    // The SDK has added this client's increments to a document that it does not have.
    if (direct && direct.open === undefined) return show();
    documentRead(counter, snapshot);
    const includes: HasMark = (plan) => hasMark(snapshot, plan) || (isTooOld(plan, direct) ? undefined : false);
    // While this client's writes are pending, the SDK adds them to the total as it was before, and hides others' increments.
    if (hasPendingWrites && (total._isRead || !total._isWhole(includes))) {
      if (total._isRead) published = { ...(published ?? toSnapshot(snapshot, fromCache, Date.now(), true)), fromCache };
      show();
    } else if (published || snapshot.exists() || !fromCache) read(snapshot, fromCache, hasPendingWrites, includes);
    // An empty cache tells nothing; one that persists may know that there is no document.
    else getDocFromCache(watched).then(() => hasFailed || published || read(snapshot, true, false, includes), show);
  };
  const listens = (now: boolean) => {
    if (isListening !== now) counter._listeners = (counter._listeners ?? 0) + (now ? 1 : -1);
    isListening = now;
  };
  const listen = () => {
    const end = keepListening(
      watched,
      (snapshot) => {
        listens(true);
        // The first snapshot after a failure is told, even if it is the same.
        if (hasFailed) shown = "";
        hasFailed = false;
        received(snapshot);
      },
      (reason) => {
        listens(false);
        hasFailed = true;
        own?._documentChanged();
        error(reason);
      },
    );
    stop = () => {
      listens(false);
      if (!counter._listeners) own?._documentChanged();
      end();
    };
  };
  const setServed = (now: boolean) => {
    if (own && isServed !== now) own._httpWatches += now ? 1 : -1;
    isServed = now;
  };
  const fallBack = () => {
    setServed(false);
    if (!hasEnded) listen();
  };
  setServed(!!via);
  if (via)
    import("./totals.ts").then(({ watchTotals }) => {
      if (!hasEnded) stop = watchTotals(via, ref.id, (document) => read(document, false), fallBack);
    }, fallBack);
  else listen();
  const leave = own?._subscribe(show);
  return () => {
    hasEnded = true;
    setServed(false);
    stop?.();
    leave?.();
  };
}

interface Fields {
  get(field: string): unknown;
}

/** A snapshot of the counter document; with `via`, without the fields that `totals` does not tell. */
type Shown = { -readonly [Field in keyof CounterSnapshot]: CounterSnapshot[Field] };

/** Whether the marks of the increment's generation may have been removed. */
function isTooOld({ generation = 0 }: IncrementPlan, direct: ReadDirect): boolean {
  return (direct?.generation ?? 0) >= generation + DIRECT_SLOTS - 1;
}

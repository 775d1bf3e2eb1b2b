/** Watches of a counter: its totals, and this client's own increments in between. */
import {
  collection,
  type DocumentSnapshot,
  doc,
  type FirestoreError,
  getDoc,
  getDocFromCache,
  onSnapshot,
  type QueryDocumentSnapshot,
  type Timestamp,
  waitForPendingWrites,
} from "firebase/firestore";
import {
  type CounterObserver,
  DIRECT,
  DIRECT_WINDOWS,
  type HasMark,
  type IncrementPlan,
  MAX_COMMIT_MS,
  MAX_PUBLISH_DELAY_MS,
  microsOf,
  OptimisticTotal,
  type OwnIncrement,
  observing,
  type ReadDirect,
  setBackgroundTimer,
  shardsPath,
  toServedSnapshot,
  toSnapshot,
} from "../../../core/src/index.ts";
import { callSafely } from "../beacon/callSafely.ts";
import { hasMark, markOf } from "./commit.ts";
import {
  type Committed,
  type Counter,
  type CounterRef,
  counterDoc,
  counterOf,
  documentRead,
  type IncrementCall,
  logFailure,
  type Turn,
  type Watcher,
} from "./counter.ts";
import { keepListening } from "./listening.ts";
import type { CounterSnapshot, ServedCounterSnapshot } from "./read.ts";
import { timeFor } from "./timeFor.ts";

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
 * As {@link onCounter}. Before the first snapshot, it also reports whether increments of this client are pending, and a total that is known
 * from elsewhere. With `via`, the states
 * are those of a {@link ServedCounterSnapshot}.
 */
export function watchCounter(
  ref: CounterRef,
  next: (state: Partial<CounterSnapshot>) => void,
  error: (error: FirestoreError) => void,
  { optimistic = true, via }: Partial<ServedCounterWatchOptions> = {},
): () => void {
  const counter = counterOf(ref);
  const watched = counterDoc(counter);
  const own = optimistic ? ownIncrements(counter) : undefined;
  const total = own ?? new OptimisticTotal();
  /** The time that the server's clock is ahead of this device's, as far as it decides which windows are over. */
  let clockAhead = 0;
  let asked: unknown;
  let published: Partial<Shown> | undefined;
  let shown = '{"pending":false}';
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
    if (shown === text || hasFailed) return;
    shown = text;
    next(state);
  };
  const read = (document: Fields, fromCache: boolean, pending?: boolean, hasMark?: HasMark) => {
    const latest: Shown | ServedCounterSnapshot = via
      ? toServedSnapshot(document, fromCache)
      : toSnapshot(document, fromCache, Date.now() + clockAhead, pending);
    const isShown = total._totalRead({
      ...latest,
      asOf: microsOf(latest.asOf) || +!!document.get("direct") / 2,
      // To pending increments, the SDK adds what it showed before.
      source: via ? "http" : fromCache || pending ? "cache" : "server",
      hasMark,
    });
    if (!isShown) return;
    published = latest;
    show();
    if (via || fromCache || document === asked) return;
    asked = document;
    timeFor(ref, [document]).then((now) => {
      if (now) clockAhead = now - Date.now();
      if (now && published === latest && !hasEnded) read(document, fromCache, pending, hasMark);
    });
  };
  const received = (snapshot: DocumentSnapshot) => {
    const { fromCache, hasPendingWrites } = snapshot.metadata;
    const direct: ReadDirect = snapshot.get("direct");
    own?._documentShown(snapshot);
    isUnsent = hasPendingWrites;
    // The SDK has added this client's increments to a document that it does not have.
    if (direct && direct.open === undefined) return show();
    documentRead(counter, snapshot);
    const includes: HasMark = (plan) => hasMark(snapshot, plan) || (isTooOld(plan, direct) ? undefined : false);
    // While this client's writes are pending, the SDK adds them to the total as it was before, and hides others' increments.
    if (hasPendingWrites && (total._isRead || !total._isWhole(includes))) {
      if (published) published = { ...published, fromCache };
      show();
    } else if (published || snapshot.exists() || !fromCache) read(snapshot, fromCache, hasPendingWrites, includes);
    // An empty cache tells nothing; one that persists may know that there is no document.
    else getDocFromCache(watched).then(() => published ?? read(snapshot, true, false, includes), show);
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
        own?._documentShown();
        error(reason);
      },
    );
    stop = () => {
      listens(false);
      end();
    };
  };
  let stop: (() => void) | undefined;
  let hasEnded = false;
  let hasFailed = false;
  let isListening = false;
  /** Whether the SDK shows the document with writes that the server has not acknowledged. */
  let isUnsent = false;
  let isServed = false;
  const beServed = (now: boolean) => {
    if (own && isServed !== now) own._served += now ? 1 : -1;
    isServed = now;
  };
  const fallBack = () => {
    beServed(false);
    if (!hasEnded) listen();
  };
  beServed(!!via);
  if (via)
    import("./totals.ts").then(({ watchTotals }) => {
      if (!hasEnded) stop = watchTotals(via, ref.id, (document) => read(document, false), fallBack);
    }, fallBack);
  else listen();
  const leave = own?._subscribe(show);
  return () => {
    hasEnded = true;
    beServed(false);
    stop?.();
    leave?.();
  };
}

interface Fields {
  get(field: string): unknown;
}

/** A snapshot of the counter document; with `via`, without the fields that `totals` does not tell. */
type Shown = { -readonly [Field in keyof CounterSnapshot]: CounterSnapshot[Field] };

/** The increments of this client to one counter, shown in every view of the counter. */
class OwnIncrements extends OptimisticTotal implements Watcher {
  _served = 0;
  readonly #counter: Counter;
  readonly #views = new Set<() => void>();
  #stopCaching: (() => void) | undefined;
  #notifyTimer: unknown;
  /** Calls with `once` that have not returned. */
  readonly #turns = new Set<Turn>();
  /** Calls without an outcome, and their increments. */
  readonly #calls = new Map<IncrementCall, readonly OwnIncrement[]>();
  /** The counter's documents as the SDK shows them: with the writes in the queue of the user who is signed in. */
  #document: DocumentSnapshot | undefined;
  #shards: readonly QueryDocumentSnapshot[] = [];
  /** Until the writes in the SDK's queue have an outcome, if some are of this counter. */
  #unsent: Promise<void> | undefined;

  constructor(counter: Counter) {
    super();
    this.#counter = counter;
  }

  /** Calls a view after each change. @returns a function that ends it */
  _subscribe(view: () => void): () => void {
    // A listener to the cache alone, at no cost: meanwhile the cache keeps the shards that this client writes, and with
    // them the server's timestamps.
    this.#stopCaching ??= onSnapshot(
      collection(this.#counter.firestore, shardsPath(this.#counter.path)),
      { source: "cache" },
      ({ docs }) => {
        this.#shards = docs;
        this.#usersMayDiffer();
        // These may be writes of another tab, or of this page before a reload. A listener to the cache does not hear of their outcome.
        if (docs.some((shard) => shard.get("at") === null)) {
          const unsent = waitForPendingWrites(this.#counter.firestore).catch(() => {});
          this.#unsent = unsent;
          unsent.then(() => {
            if (this.#unsent === unsent) this.#unsent = undefined;
            this.#notifyViews();
          });
        }
      },
      // `terminate` of the database ends it.
      () => {},
    );
    this.#views.add(view);
    // A new view shows increments that are pending already.
    this.#notifyViews();
    return () => {
      this.#views.delete(view);
      // A view that is created again soon still finds the pending increments.
      setBackgroundTimer(() => {
        if (this.#views.size > 0) return;
        this.#stopCaching?.();
        this.#stopCaching = undefined;
      }, MAX_PUBLISH_DELAY_MS);
    };
  }

  _isWatched(): boolean {
    return !!this.#stopCaching;
  }

  override get _pending(): boolean {
    return super._pending || !!this.#unsent || [...this.#turns].some(({ _isAway }) => !_isAway);
  }

  _callsChanged(turn: Turn, hasReturned?: boolean): void {
    if (hasReturned) this.#turns.delete(turn);
    else this.#turns.add(turn);
    this.#notifyViews();
  }

  /** A watch shows another state of the counter document, or none. */
  _documentShown(document?: DocumentSnapshot): void {
    this.#document = document;
    this.#usersMayDiffer();
  }

  /**
   * Finds the increments that wait in the queue of another user: their marks have gone from the documents as the SDK shows them, though
   * they have no outcome. When that user is back, the marks are, too.
   */
  #usersMayDiffer(): void {
    for (const [call, made] of this.#calls) {
      const { _plan: plan, _turn } = call;
      const queued = _turn ?? call;
      if (!plan || !queued._isQueued) continue;
      const document =
        plan.generation === undefined ? this.#shards.find(({ ref }) => ref.path === plan.path) : this.#document;
      // Without `at`, the write is in the queue. Or it is committed, and the total has it.
      const isShown = markOf(document, plan)?.at === null;
      if (isShown) {
        if (queued._isAway) for (const own of made) this._incrementBack(own);
        call._shownPlan = plan;
      }
      queued._isAway = !isShown && call._shownPlan === plan;
    }
    this._settle();
    this.#notifyViews();
  }

  override _bufferedChanged(by: number): void {
    super._bufferedChanged(by);
    this.#notifyViews();
  }

  /** Cost: none, because the cache has the commit time; 1 read if the cache has lost it. */
  async _track(call: IncrementCall, outcome: Promise<Committed>): Promise<void> {
    const once = call._turn?._once;
    const undone = this.#undone(call);
    const made = undone ? [undone] : [];
    made.push(this._incrementMade(call._by, once, !!call._undoneShard, call));
    const committed = (latest: number) => {
      for (const own of made) this._incrementCommitted(own, own === undone ? Math.min(own._latest, latest) : latest);
      this.#notifyViews();
    };
    const forget = () => {
      for (const own of [...made].reverse()) this._incrementRefused(own);
      this.#notifyViews();
    };
    this.#calls.set(call, made);
    this.#notifyViews();
    const sentAt = performance.now();
    try {
      const { _path, _at } = await outcome.finally(() => {
        this.#calls.delete(call);
        (call._turn ?? call)._isAway = false;
      });
      // It had counted before; or no view is left that could show the increment.
      if (_at === null || !this._isWatched()) return forget();
      // Its mark tells which totals include it.
      if (call._plan?.generation !== undefined) return committed(0);
      // The timestamp is from the start of the commit, whose end is within the round trip.
      const start = microsOf(_at || (await this.#readTimestamp(_path)));
      committed(start + Math.min(performance.now() - sentAt, MAX_COMMIT_MS) * 1_000);
      // A total between both bounds may include the increment or not. It does if no other total has followed by then.
      setBackgroundTimer(() => committed(start), MAX_PUBLISH_DELAY_MS);
    } catch {
      forget();
    }
  }

  /** What an undo undoes, if this page has not made it: another tab, or this page before a reload. A total may lack it. */
  #undone({ _by, _turn, _undoneShard, _undoneAt, ...call }: IncrementCall): OwnIncrement | undefined {
    // The counter document has what is direct and sent.
    if (_undoneAt === undefined || this._hasOnce(_turn?._once) || (_undoneAt && _undoneShard === DIRECT)) return;
    const at = microsOf(_undoneAt);
    const undone = this._incrementMade(-_by, _turn?._once, false, { ...call, _turn }, at);
    // Most commits take less than the next total.
    if (at) this._incrementCommitted(undone, at);
    return undone;
  }

  /** Reads the server's timestamp of this write, or of a later one on the same shard. */
  async #readTimestamp(path: string): Promise<Timestamp> {
    const shard = doc(this.#counter.firestore, path);
    const at = (snapshot?: DocumentSnapshot) => snapshot?.get("at", { serverTimestamps: "previous" });
    // A cache that lacks the shard shows later writes that are pending, and no time.
    return at(await getDocFromCache(shard).catch(() => undefined)) ?? at(await getDoc(shard));
  }

  /** Calls the views once for all changes of this turn of the event loop, after the code that made them. */
  #notifyViews(): void {
    this.#notifyTimer ??= setTimeout(() => {
      this.#notifyTimer = undefined;
      for (const view of this.#views) callSafely(view);
    });
  }
}

export function ownIncrements(counter: Counter): OwnIncrements {
  if (!counter._watcher) {
    const own = new OwnIncrements(counter);
    own._bufferedChanged(counter._buffered ?? 0);
    counter._watcher = own;
  }
  return counter._watcher as OwnIncrements;
}

/** Whether the marks of the increment's generation may have been removed. */
function isTooOld({ generation = 0 }: IncrementPlan, direct: ReadDirect): boolean {
  return (direct?.generation ?? 0) >= generation + DIRECT_WINDOWS - 1;
}

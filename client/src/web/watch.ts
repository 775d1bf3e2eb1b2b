/** Watching a counter: published totals, and in between this client's own increments. */
import {
  collection,
  doc,
  type FirestoreError,
  getDoc,
  getDocFromCache,
  onSnapshot,
  type Timestamp,
} from "firebase/firestore";
import {
  MAX_COMMIT_MS,
  MAX_PUBLISH_DELAY_MS,
  OptimisticTotal,
  type OwnIncrement,
  shardsPath,
  toSnapshot,
} from "../../../core/src/index.ts";
import { type Committed, type Counter, type CounterRef, counterDoc, type Watcher } from "./counter.ts";
import type { CounterSnapshot } from "./read.ts";

/** What a watch shows. */
export interface WatchOptions {
  /** Whether increments of this client show at once, before they are published. Default `true`. */
  optimistic?: boolean | undefined;
}

/**
 * Watches the total: calls `next` now, whenever a new total is published, at most about once a second, and at once for
 * increments of this client. While it watches, increments of this counter need no read of their own.
 *
 * An own increment is in every total from the moment it is made, exactly once: no dip and no double when it is
 * acknowledged or published, in whatever order.
 *
 * Cost: 1 read per published total.
 *
 * @param error - called when the watch has failed, and with it ended
 * @returns a function that ends the watch
 *
 * @example
 * ```ts
 * const stop = onCounter(views, ({ total }) => { label.textContent = `${total} views`; });
 * ```
 */
export function onCounter(
  ref: CounterRef,
  next: (snapshot: CounterSnapshot) => void,
  error?: (error: FirestoreError) => void,
  options?: WatchOptions,
): () => void {
  return watchCounter(ref, (state) => "total" in state && next(state as CounterSnapshot), error, options);
}

/** As {@link onCounter}, but tells before the first total, too, whether increments of this client are pending. */
export function watchCounter(
  ref: CounterRef,
  next: (state: Partial<CounterSnapshot>) => void,
  error?: (error: FirestoreError) => void,
  { optimistic = true }: WatchOptions = {},
): () => void {
  const counter = ref as Counter;
  const own = optimistic ? ownIncrements(counter) : undefined;
  let published: CounterSnapshot | undefined;
  let shown = '{"pending":false}';
  const show = () => {
    const state = own
      ? { ...published, ...(published && { total: own._total }), pending: own._pending }
      : { ...published };
    const text = JSON.stringify(state);
    if (shown !== text) next(state);
    shown = text;
  };
  const stop = onSnapshot(
    counterDoc(ref),
    { includeMetadataChanges: true },
    (snapshot) => {
      const { fromCache } = snapshot.metadata;
      // From a cache that has no such document nothing can be learnt.
      if (snapshot.exists() || !fromCache) counter._shardCountCache._update(snapshot.get("shardCount"));
      published = toSnapshot(snapshot, fromCache);
      own?._totalRead(published.total, micros(published.asOf), fromCache);
      show();
    },
    error &&
      ((reason) => {
        leave?.();
        error(reason);
      }),
  );
  const leave = own?._subscribe(show);
  return () => {
    stop();
    leave?.();
  };
}

/** Shows the increments of this client in every view of one counter. */
class OwnIncrements extends OptimisticTotal implements Watcher {
  readonly #counter: Counter;
  readonly #views = new Set<() => void>();
  readonly #ownByKey = new Map<string, OwnIncrement>();
  #stopCaching: (() => void) | undefined;
  #notifyTimer: unknown;

  constructor(counter: Counter) {
    super();
    this.#counter = counter;
  }

  /** @returns a function that leaves again */
  _subscribe(view: () => void): () => void {
    // Listens to the cache alone, which costs nothing: as long as it does, the cache keeps the shards we write, and
    // with them the server's timestamps.
    this.#stopCaching ??= onSnapshot(
      collection(this.#counter.firestore, shardsPath(this.#counter.path)),
      { source: "cache" },
      () => {},
    );
    this.#views.add(view);
    // A later subscriber learns of increments that are pending.
    this.#notifyViews();
    return () => {
      this.#views.delete(view);
      // A new view that follows soon finds the pending increments.
      setTimeout(() => {
        if (this.#views.size > 0) return;
        this.#stopCaching?.();
        this.#stopCaching = undefined;
      }, MAX_PUBLISH_DELAY_MS);
    };
  }

  override _bufferedChanged(by: number): void {
    super._bufferedChanged(by);
    this.#notifyViews();
  }

  /** Cost: none, since the cache tells when it was committed; 1 read should the cache have lost it. */
  async _track(by: number, outcome: Promise<Committed>, key: string | undefined): Promise<void> {
    // Of several attempts for one key, one after the other, one can count.
    if (key && this.#ownByKey.get(key)?.by === by) return;
    const own = this._incrementMade(by);
    if (key) this.#ownByKey.set(key, own);
    this.#notifyViews();
    const sentAt = Date.now();
    try {
      const { _path, _at } = await outcome;
      // It had counted before; or no view is left, so that it need not be told from what will be published.
      if (_at === null || !this.#stopCaching) throw _at;
      // The timestamp is of the start of a commit, whose end is within the round trip.
      const start = micros(_at ?? (await this.#readTimestamp(_path)));
      this._incrementCommitted(own, start + Math.min(Math.abs(Date.now() - sentAt), MAX_COMMIT_MS) * 1_000);
      // Every write is followed by a total that holds it. If none has come by then, the last one does.
      setTimeout(() => {
        this._incrementCommitted(own, start);
        this.#notifyViews();
      }, MAX_PUBLISH_DELAY_MS);
    } catch {
      this._incrementRefused(own);
    }
    if (key && this.#ownByKey.get(key) === own) this.#ownByKey.delete(key);
    this.#notifyViews();
  }

  /** Of this write or of a later one on the same shard. */
  async #readTimestamp(path: string): Promise<Timestamp> {
    const shard = doc(this.#counter.firestore, path);
    const snapshot = await getDocFromCache(shard).catch(() => getDoc(shard));
    return snapshot.get("at", { serverTimestamps: "previous" });
  }

  /** Once for all that happens together, and not while the caller of an increment is still at it. */
  #notifyViews(): void {
    this.#notifyTimer ??= setTimeout(() => {
      this.#notifyTimer = undefined;
      for (const view of this.#views) view();
    });
  }
}

function ownIncrements(counter: Counter): OwnIncrements {
  if (!counter._watcher) {
    const own = new OwnIncrements(counter);
    own._bufferedChanged(counter._buffered ?? 0);
    counter._watcher = own;
  }
  return counter._watcher as OwnIncrements;
}

function micros(at: Timestamp | null | undefined): number {
  return at ? at.seconds * 1e6 + Math.floor(at.nanoseconds / 1e3) : 0;
}

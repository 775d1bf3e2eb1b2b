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
import { shardsPath } from "../../../core/src/index.ts";
import { Compensation, type OwnIncrement } from "../../../core/src/optimisticTotal.ts";
import { toSnapshot } from "../../../core/src/snapshot.ts";
import { COMMIT_MS, SETTLED_MS } from "../../../core/src/timeouts.ts";
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
  options: WatchOptions = {},
): () => void {
  const { optimistic = true } = options;
  const counter = ref as Counter;
  const own = optimistic ? ownIncrements(counter) : undefined;
  let published: CounterSnapshot | undefined;
  let shown: string | undefined;
  const show = () => {
    if (!published) return;
    const snapshot = own ? { ...published, total: own._total, pending: own._pending } : published;
    const text = JSON.stringify(snapshot);
    if (shown !== text) next(snapshot);
    shown = text;
  };
  const stop = onSnapshot(
    counterDoc(ref),
    { includeMetadataChanges: true },
    (snapshot) => {
      const { fromCache } = snapshot.metadata;
      // From a cache that has no such document nothing can be learnt.
      if (snapshot.exists() || !fromCache) counter._spread._learn(snapshot.get("shardCount"));
      published = toSnapshot(snapshot, fromCache);
      own?._published(published.total, micros(published.asOf), fromCache);
      show();
    },
    error &&
      ((reason) => {
        leave?.();
        error(reason);
      }),
  );
  const leave = own?._join(show);
  return () => {
    stop();
    leave?.();
  };
}

/** Shows everybody who watches one counter the increments of this client. */
class OwnIncrements extends Compensation implements Watcher {
  readonly #counter: Counter;
  readonly #views = new Set<() => void>();
  readonly #attempts = new Map<string, OwnIncrement>();
  #unpin: (() => void) | undefined;
  #telling: unknown;

  constructor(counter: Counter) {
    super();
    this.#counter = counter;
  }

  /** @returns a function that leaves again */
  _join(view: () => void): () => void {
    // Listens to the cache alone, which costs nothing: as long as it does, the cache keeps the shards we write, and
    // with them the server's timestamps.
    this.#unpin ??= onSnapshot(
      collection(this.#counter.firestore, shardsPath(this.#counter.path)),
      { source: "cache" },
      () => {},
    );
    this.#views.add(view);
    return () => {
      this.#views.delete(view);
      // Whoever comes back soon finds what was under way.
      setTimeout(() => {
        if (this.#views.size > 0) return;
        this.#unpin?.();
        this.#unpin = undefined;
      }, SETTLED_MS);
    };
  }

  _hold(by: number): void {
    this._held(by);
    this.#tell();
  }

  /** Cost: none, since the cache tells when it was committed; 1 read should the cache have lost it. */
  async _follow(by: number, outcome: Promise<Committed>, key: string | undefined): Promise<void> {
    // Of several attempts for one key, one after the other, one can count.
    if (key && this.#attempts.get(key)?.by === by) return;
    const own = this._issued(by);
    if (key) this.#attempts.set(key, own);
    this.#tell();
    const sentAt = Date.now();
    try {
      const { _path, _at } = await outcome;
      // It had counted before; or nobody watches any more, so that it need not be told from what will be published.
      if (_at === null || !this.#unpin) throw _at;
      // The timestamp is of the start of a commit, whose end is within the round trip.
      const start = micros(_at ?? (await this.#timestamp(_path)));
      this._committed(own, start + Math.min(Math.abs(Date.now() - sentAt), COMMIT_MS) * 1_000);
      // Every write is followed by a total that holds it. If none has come by then, the last one does.
      setTimeout(() => {
        this._committed(own, start);
        this.#tell();
      }, SETTLED_MS);
    } catch {
      this._refused(own);
    }
    if (key && this.#attempts.get(key) === own) this.#attempts.delete(key);
    this.#tell();
  }

  /** Of this write or of a later one on the same shard. */
  async #timestamp(path: string): Promise<Timestamp> {
    const shard = doc(this.#counter.firestore, path);
    const snapshot = await getDocFromCache(shard).catch(() => getDoc(shard));
    return snapshot.get("at", { serverTimestamps: "previous" });
  }

  /** Once for all that happens together, and not while the caller of an increment is still at it. */
  #tell(): void {
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      for (const view of this.#views) view();
    });
  }
}

function ownIncrements(counter: Counter): OwnIncrements {
  if (!counter._watcher) {
    const own = new OwnIncrements(counter);
    own._held(counter._held ?? 0);
    counter._watcher = own;
  }
  return counter._watcher as OwnIncrements;
}

function micros(at: Timestamp | null | undefined): number {
  return at ? at.seconds * 1e6 + Math.floor(at.nanoseconds / 1e3) : 0;
}

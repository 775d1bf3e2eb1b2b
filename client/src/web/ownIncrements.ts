/** This client's increments of one counter, until totals include them: when each was committed, and whose queue has it. */
import {
  collection,
  type DocumentSnapshot,
  doc,
  getDoc,
  getDocFromCache,
  onSnapshot,
  type Timestamp,
  waitForPendingWrites,
} from "firebase/firestore";
import {
  DIRECT,
  MAX_COMMIT_MS,
  MAX_PUBLISH_DELAY_MS,
  microsOf,
  OptimisticTotal,
  type OwnIncrement,
  setBackgroundTimer,
  shardsPath,
} from "../../../core/src/index.ts";
import { callSafely } from "../beacon/callSafely.ts";
import type { OrderedCall } from "./call.ts";
import { type Committed, type IncrementCall, type QueueState, queueStateOf, type Watcher } from "./call.ts";
import type { Counter } from "./counter.ts";
import { slotWithMark } from "./writes.ts";

/** The increments of this client to one counter, shown in every view of the counter. */
class OwnIncrements extends OptimisticTotal implements Watcher {
  _httpWatches = 0;
  readonly #counter: Counter;
  readonly #views = new Set<() => void>();
  #stopCaching: (() => void) | undefined;
  #notifyTimer: unknown;
  /** Calls with `once` that have not returned. */
  readonly #orderedCalls = new Set<OrderedCall>();
  /** Calls without an outcome, and their increments. */
  readonly #calls = new Map<IncrementCall, readonly OwnIncrement[]>();
  /**
   * The counter's documents as the SDK shows them: with the writes in the queue of the user who is signed in. The shards are by path.
   * `undefined` while no listener has told.
   */
  #document: DocumentSnapshot | undefined;
  #shards: ReadonlyMap<string, DocumentSnapshot> | undefined;
  /** Set while the SDK's queue has writes of this counter's shards. Resolves when the queue is empty. */
  #unsent: Promise<void> | undefined;
  #leaveTimer: ReturnType<typeof setTimeout> | undefined;

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
        this.#shards = new Map(docs.map((shard) => [shard.ref.path, shard]));
        this.#findOtherUsersCalls();
        // These may be writes of another tab, or of this page before a reload. A listener to the cache does not hear of their outcome.
        if (docs.some((shard) => shard.get("at") === null)) {
          const unsent = this.#whenSent();
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
    clearTimeout(this.#leaveTimer);
    this.#views.add(view);
    // A new view shows increments that are pending already.
    this.#notifyViews();
    return () => {
      this.#views.delete(view);
      if (this.#views.size > 0) return;
      // Another user may be next.
      if (this._isPendingView) this._restart();
      // A view that is created again soon still finds the total.
      this.#leaveTimer = setBackgroundTimer(() => {
        this.#stopCaching?.();
        this.#stopCaching = undefined;
        this.#shards = undefined;
        this._restart();
      }, MAX_PUBLISH_DELAY_MS);
    };
  }

  _isWatched(): boolean {
    return !!this.#stopCaching;
  }

  override get _pending(): boolean {
    return super._pending || !!this.#unsent || [...this.#orderedCalls].some(({ _isAway }) => !_isAway);
  }

  _callsChanged(call: OrderedCall, hasReturned?: boolean): void {
    if (hasReturned) this.#orderedCalls.delete(call);
    else this.#orderedCalls.add(call);
    this.#notifyViews();
  }

  /** A watch shows another state of the counter document, or none. */
  _documentChanged(document?: DocumentSnapshot): void {
    this.#document = document;
    this.#findOtherUsersCalls();
  }

  _queued(queue: QueueState): void {
    queue._hasUserChanged = false;
    queue._isAway = false;
    void this.#whenSent();
  }

  /** Resolves when the writes that are now in the SDK's queue have an outcome, or when another user signs in. */
  async #whenSent(): Promise<void> {
    try {
      await waitForPendingWrites(this.#counter.firestore);
    } catch {
      // Many waits reject at once.
      let isNew = false;
      for (const call of this.#calls.keys()) {
        const queue = queueStateOf(call);
        isNew ||= !!queue._isQueued && !queue._hasUserChanged;
        queue._hasUserChanged = queue._isQueued;
      }
      if (isNew) this.#findOtherUsersCalls();
    }
  }

  /** Whether it is not known yet if increments are of another user. */
  _isUnsure(): boolean {
    return [...this.#calls.keys()].some((call) => queueStateOf(call)._hasUserChanged && !this.#isRead(call));
  }

  /** Whether a listener has told of the document that a call writes. */
  #isRead({ _plan }: IncrementCall): boolean {
    return !!(_plan?.generation === undefined ? this.#shards : this.#document);
  }

  /**
   * Finds the increments that wait in the queue of another user: the documents, as the SDK shows them, have no marks of them, though they
   * have no outcome. When that user is back, the marks are, too.
   */
  #findOtherUsersCalls(): void {
    for (const [call, made] of this.#calls) {
      const { _plan: plan } = call;
      const queue = queueStateOf(call);
      if (!plan || !queue._isQueued || !queue._hasUserChanged || !this.#isRead(call)) continue;
      const document = plan.generation === undefined ? this.#shards?.get(plan.path) : this.#document;
      // In the queue, its slot has no `at`. With `at`, it is committed.
      const isShown = slotWithMark(document, plan)?.at === null;
      if (isShown && queue._isAway) for (const own of made) this._ownerReturned(own);
      queue._isAway = !isShown;
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
    const once = call._ordered?._once;
    const undone = this.#undone(call);
    const made = undone ? [undone] : [];
    made.push(this._incrementMade(call._by, once, !!call._undoneShard, call));
    const committed = (latest: number) => {
      for (const own of made) this._incrementCommitted(own, own === undone ? Math.min(own._latest, latest) : latest);
      this.#notifyViews();
    };
    const drop = (isRefused = true) => {
      for (const own of [...made].reverse()) this._incrementDropped(own, isRefused);
      this.#notifyViews();
    };
    this.#calls.set(call, made);
    this.#notifyViews();
    const sentAt = performance.now();
    try {
      const { _path, _at } = await outcome.finally(() => {
        this.#calls.delete(call);
        queueStateOf(call)._isAway = false;
      });
      // It had counted before.
      if (_at === null) return drop();
      // No view is left, and the next one reads the total anew.
      if (!this._isWatched()) return drop(false);
      // Its mark tells which totals include it.
      if (call._plan?.generation !== undefined) return committed(0);
      // The timestamp is from the start of the commit, whose end is within the round trip.
      const start = microsOf(_at || (await this.#readTimestamp(_path)));
      committed(start + Math.min(performance.now() - sentAt, MAX_COMMIT_MS) * 1_000);
      // A total between both bounds may include the increment or not. It does if no other total has followed by then.
      setBackgroundTimer(() => committed(start), MAX_PUBLISH_DELAY_MS);
    } catch {
      drop();
    }
  }

  /** What an undo undoes, if this page has not made it: another tab, or this page before a reload. A total may lack it. */
  #undone(call: IncrementCall): OwnIncrement | undefined {
    const { _by, _ordered, _undoneShard, _undoneAt } = call;
    // The counter document has a committed direct increment.
    if (_undoneAt === undefined || this._hasOnce(_ordered?._once) || (_undoneAt && _undoneShard === DIRECT)) return;
    const at = microsOf(_undoneAt);
    // If it is in the counter document's queue, too, the mark of the undo decides for both.
    const undone = this._incrementMade(-_by, _ordered?._once, false, call, at);
    // Its commit most likely ended before the next total.
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

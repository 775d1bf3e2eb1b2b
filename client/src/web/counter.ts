/** References to counters, and the state that this client keeps for each. */
import {
  type DocumentReference,
  type DocumentSnapshot,
  doc,
  type Firestore,
  type FirestoreError,
  getDocsFromServer,
  limit,
  type Query,
  type QuerySnapshot,
  query,
  runTransaction,
  type Timestamp,
  type Transaction,
  type WriteBatch,
  waitForPendingWrites,
} from "firebase/firestore";
import {
  CounterError,
  type CounterOptions,
  type CounterRefBase,
  counterPath,
  createShardCountCache,
  DEFAULT_COLLECTION,
  type DirectWay,
  directWay,
  givenName,
  type IncrementPlan,
  type ShardCountCache,
  valid,
  validName,
} from "../../../core/src/index.ts";

/** Names one counter. It is a value: it may be frozen, copied or kept in any state library. Calls for the same counter return the same object. */
export type CounterRef = CounterRefBase<Firestore>;

/** What this client keeps of a counter, for all references to it. The build shortens names with an underscore. */
export interface Counter extends CounterRef {
  readonly _ref: CounterRef;
  readonly _shardCountCache: ShardCountCache;
  /** `once` → the last call with it. */
  readonly _turns: Map<string, Sent>;
  /** Told of each call with `once`. */
  _entryWatches?: Set<(turn: Turn, counts: boolean, outcome: Promise<unknown>) => void>;
  /** Shows the increments of this client before they are published; set by the first watch. */
  _watcher?: Watcher;
  /** The sum that buffers have not written. */
  _buffered?: number;
  /** The counter document as last read or watched; `undefined` if the last read failed. */
  _latest?: DocumentSnapshot | undefined;
  /** Where an increment goes by that document. */
  _way?: DirectWay;
  /** How many listeners deliver the counter document. */
  _listeners?: number;
  /** Whether a shard was refused though the document is open: without functions, all increments go to the document. */
  _hasNoShards?: boolean;
  /** While the shard count is read: resolves when it is known, or when writes no longer wait for it. */
  _reading?: Promise<void> | undefined;
}

/**
 * A call with `once`: resolves to `true` when it is committed or in the SDK's queue; to `undefined` if it has failed before.
 * `_counts` says whether it is to count afterwards; `undefined` if the outcome alone tells.
 */
export type Sent = Promise<true | undefined> & {
  _counts?: boolean | undefined;
  /** Of an increment that has no outcome yet: its amount, and the outcome. */
  _pending?: { readonly _by: number; readonly _outcome: Promise<Committed> } | undefined;
};

/** Where the writes of a call are. */
export interface Queued {
  /** Whether they are in the SDK's queue, which is that of the user who was signed in. */
  _isQueued?: boolean;
  /** Whether another user has signed in since. The SDK sends them when that user is back. */
  _isAway?: boolean;
}

/** One call with `once`. */
export interface Turn extends Queued {
  readonly _once: string;
  /** Whether this client has made no call with the `once` before. */
  readonly _isFirst: boolean;
  /** Whether the last call of this client with the `once`, this one or a later one, is an undo. */
  _isUndone(): boolean;
  /** Whether the next one may have begun. */
  _isSent: boolean;
  /** The call is in the SDK's queue or committed, or there is nothing to do: the next one may begin. */
  _sent(): void;
}

export interface Watcher {
  /** The client makes an increment or an undo. `outcome` rejects if the increment does not count. */
  _track(call: IncrementCall, outcome: Promise<Committed>): void;
  /** A call with `once` has begun, or has returned: it may wait for others, or for a read, before it writes. */
  _callsChanged(turn: Turn, hasReturned?: boolean): void;
  /** The sum that buffers have not written changes by an amount. */
  _bufferedChanged(by: number): void;
  /** Whether there is a watch, or was one until some seconds ago. */
  _isWatched(): boolean;
  /** How many watches get totals by HTTP, which have no marks of direct increments. */
  _served?: number;
}

/** One call for an increment: what it does, and how that is being made. With `once`, its turn tells where its writes are. */
export interface IncrementCall extends Queued {
  readonly _by: number;
  /** Of a call with `once`. */
  _turn?: Turn | undefined;
  /** Of an undo: what the entry names, a shard or `direct`. The commit deletes the entry. */
  readonly _undoneShard?: string;
  /** Of an undo: when the increment was made, perhaps by another tab; `null` while it is in the SDK's queue. */
  readonly _undoneAt?: Timestamp | null;
  /** Adds another write to the commit, given the path of the document that gets the increment. */
  readonly _alsoWrite?: ((writer: WriteBatch, path: string) => unknown) | undefined;
  /** The latest plan; `undefined` before the first. */
  _plan?: IncrementPlan;
  /** The plan whose writes a watch has seen in the SDK's queue. */
  _shownPlan?: IncrementPlan;
}

/** A committed increment. */
export interface Committed {
  /** The path of the document that has it: a shard, or the counter document. */
  readonly _path: string;
  /** The server's timestamp of the write, or a later one, if it had to be looked up; `null` if its `once` had counted before. */
  readonly _at: Timestamp | null | undefined;
}

/** Database → path → counter. */
const counters = new WeakMap<Firestore, Record<string, Counter>>();

/**
 * Refers to a counter. No I/O; the first increment creates the counter.
 *
 * @param id - any Firestore document id. `group:name`, such as `views:home`, is the recommended form
 * @throws CounterError `counter/invalid-id`, `counter/invalid-collection`; `counter/invalid-reference` for a database of another
 *         copy of `firebase`, or of another SDK, such as `firebase/firestore/lite`, which has neither listeners nor a cache
 *
 * @example
 * ```ts
 * const views = counter(db, "views:home");
 * ```
 */
export function counter(firestore: Firestore, id: string, options?: CounterOptions): CounterRef {
  const path = counterPath(givenName(options, "collection") ?? DEFAULT_COLLECTION, validName("id", id));
  return counterOf({ firestore, id, path })._ref;
}

/**
 * What this client keeps of a counter. Every call that takes a reference asks for it before any I/O.
 *
 * @throws CounterError `counter/invalid-reference` for what is no reference, or for a database of another SDK
 */
export function counterOf(ref: CounterRef): Counter {
  const { firestore, id, path, type } = Object(ref);
  const known = counters.get(firestore) ?? {};
  try {
    // A document has a path, too.
    if (!type && path.endsWith(`/${id}`) && doc(firestore, path)) {
      known[path] ??= {
        firestore,
        id,
        path,
        _ref: Object.freeze({ firestore, id, path }),
        _shardCountCache: createShardCountCache(() => performance.now()),
        _turns: new Map(),
      };
      counters.set(firestore, known);
      return known[path];
    }
  } catch {}
  const isCopy = firestore?.type === "firestore";
  return valid(
    false,
    "reference",
    ref,
    isCopy && !type
      ? "a database of the same copy of firebase; `npm ls firebase` shows two, or both import and require load it"
      : "counter() of getFirestore() of firebase/firestore; /lite has no listeners",
  );
}

/** The counter document. */
export function counterDoc(ref: CounterRef): DocumentReference {
  const { firestore, path } = counterOf(ref);
  return doc(firestore, path);
}

/**
 * Reads the shard count if the known one is stale, one read at a time. Never rejects, because any count is safe. Cost: 1 read
 * in two minutes or 20 writes; 1 read a second while writes are contended, and while the counter grows or is new.
 *
 * @returns the read, which a write awaits: the first one for eight seconds at most, later ones for one. `undefined` if the count is
 *          fresh, the page is hidden or the device is offline. If the page becomes hidden meanwhile, the wait ends: a longer one
 *          could lose the write
 */
export function refreshShardCount(counter: Counter): Promise<void> | undefined {
  const { _shardCountCache } = counter;
  if (!_shardCountCache._isStale(isLive(counter))) return;
  counter._reading ??= new Promise<void>((resolve) => {
    const stopListening = onHidden(resolve);
    const timer = setTimeout(resolve, _shardCountCache._countTimeout());
    let sentAt = 0;
    const end = (snapshot?: DocumentSnapshot, roundTrip?: number) => {
      learn(counter, snapshot, snapshot?.get("growing"), roundTrip);
      stopListening();
      clearTimeout(timer);
      counter._reading = undefined;
      resolve();
    };
    const read = readFromServer(counterDoc(counter), 1, () => {
      sentAt = performance.now();
    });
    read.then(
      (snapshot) => end(snapshot, performance.now() - sentAt),
      () => end(),
    );
  });
  return isHiddenOrOffline() ? undefined : counter._reading;
}

/** Whether listeners keep the document up to date. */
export function isLive({ _latest, _listeners }: Counter): boolean {
  return !!_listeners && _latest?.metadata.fromCache === false;
}

/**
 * Keeps a counter document that the SDK has read, perhaps from its cache. A cache without the document tells nothing.
 *
 * @param growing - its `growing`; a watch leaves it out, because it learns of further growth
 */
export function documentRead(counter: Counter, snapshot: DocumentSnapshot, growing?: unknown): void {
  const { _way: before } = counter;
  if (snapshot.metadata.fromCache && !snapshot.exists()) return;
  learn(counter, snapshot, growing);
  // A view may lack the last writes of this client.
  const { _way: way } = counter;
  if (before && way?._generation === before._generation && (before._room as number) < (way?._room as number))
    counter._way = before;
}

/** Keeps what a read has found; `undefined` for a read that failed. */
export function learn(
  counter: Counter,
  snapshot: DocumentSnapshot | undefined,
  growing?: unknown,
  roundTrip?: number,
): void {
  const way = wayBy(snapshot, counter._hasNoShards);
  counter._latest = snapshot;
  counter._way = way;
  // An open counter that was never published has one shard.
  const shards = snapshot?.get("shardCount") ?? (snapshot?.get("direct.open") && 1);
  counter._shardCountCache._update(Math.max(shards, way._shards ?? 1) || shards, growing, roundTrip);
}

/** Where the next increment goes by the counter document. @param hasNoShards - whether all go to the document */
export function wayBy(snapshot: DocumentSnapshot | undefined, hasNoShards: boolean | undefined): DirectWay {
  return directWay(snapshot?.exists() === false ? null : snapshot?.get("direct"), hasNoShards);
}

/** Calls back when the page becomes hidden. @returns a function that ends this */
export function onHidden(call: () => void): () => void {
  const { document: page } = globalThis;
  const callIfHidden = () => {
    if (isHiddenOrOffline()) call();
  };
  page?.addEventListener?.("visibilitychange", callIfHidden);
  return () => page?.removeEventListener?.("visibilitychange", callIfHidden);
}

/** Whether a write that waits may never be sent, or cannot be sent now. */
export function isHiddenOrOffline(): boolean | undefined {
  const { document, navigator } = globalThis;
  return document?.hidden || navigator?.onLine === false;
}

/**
 * Reads a document from the server, in a transaction that commits nothing. Without one, the SDK would open a stream to watch
 * the document, and would add this client's unsent writes to it. Cost: 1 read.
 *
 * @param onSent - called when the request is sent: the SDK first waits for the commit of another transaction
 * @returns `undefined` if the rules do not let this client read it
 */
export async function readFromServer(
  document: DocumentReference,
  maxAttempts: number,
  onSent?: () => void,
): Promise<DocumentSnapshot | undefined> {
  let snapshot: DocumentSnapshot | undefined;
  const read = async (transaction: Transaction) => {
    onSent?.();
    snapshot = await transaction.get(document);
    // Ends the transaction without a commit.
    throw { code: "permission-denied" };
  };
  await runTransaction(document.firestore, read, { maxAttempts }).catch(rethrowUnlessDenied);
  return snapshot;
}

/**
 * Lists documents as the server has them. The SDK alone does not promise that: while any tab listens to the query, even to the cache
 * alone, `getDocsFromServer` answers from the cache. So the query gets a limit that no listener has. It also adds this client's
 * unsent writes to the documents, so those are awaited. Cost: 1 read per document, up to three times beside unsent writes.
 *
 * @param most - the largest limit that the rules allow; more documents are left out
 * @throws CounterError `counter/contention` if this client writes all the time
 */
export async function listFromServer(all: Query, most = 1e9): Promise<QuerySnapshot> {
  for (let attempt = 1; attempt <= 3; attempt++) {
    const listed = await getDocsFromServer(query(all, limit(Math.ceil((most * (1 + Math.random())) / 2))));
    if (!listed.metadata.hasPendingWrites) return listed;
    await waitForPendingWrites(all.firestore);
  }
  throw new CounterError("counter/contention", "this client's own writes change the shards all the time; call again");
}

/** Logs why a watch has failed. `terminate` of the database ends all watches, which is no failure. */
export function logFailure(error: FirestoreError): void {
  if (!hasCode(error, "aborted")) console.error(error);
}

/** Rethrows an error, except a refusal by the rules. */
export function rethrowUnlessDenied(error: unknown): void {
  if (!hasCode(error, "permission-denied")) throw error;
}

/** Whether a Firestore error has a code. React Native Firebase writes `firestore/` before it. */
export function hasCode(error: unknown, code: string): boolean | undefined {
  return (error as FirestoreError).code?.endsWith(code);
}

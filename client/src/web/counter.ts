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
  type Transaction,
  waitForPendingWrites,
} from "firebase/firestore";
import {
  CounterError,
  type CounterOptions,
  type CounterRefBase,
  counterPath,
  createShardCountCache,
  DEFAULT_COLLECTION,
  type DirectTarget,
  directTarget,
  givenName,
  type ShardCountCache,
  valid,
  validName,
} from "../../../core/src/index.ts";
import type { OrderedCall, Watcher } from "./call.ts";

/**
 * Names one counter. It is a plain value: it may be frozen, copied or kept in any state library. Calls for the same counter return the same
 * object.
 */
export type CounterRef = CounterRefBase<Firestore>;

/** What this client keeps of a counter, for all references to it. The build shortens names with an underscore. */
export interface Counter extends CounterRef {
  readonly _ref: CounterRef;
  readonly _shardCountCache: ShardCountCache;
  /** `once` → the last call with it. */
  readonly _calls: Map<string, OrderedCall>;
  /** Told of each call with `once`. */
  _entryWatches?: Set<(call: OrderedCall, counts: boolean, outcome: Promise<unknown>) => void>;
  /** Shows the increments of this client before they are published; set by the first watch. */
  _watcher?: Watcher;
  /** The sum that buffers have not written. */
  _buffered?: number;
  /** The counter document as last read or watched; `undefined` if the last read failed. */
  _latest?: DocumentSnapshot | undefined;
  /** Where an increment goes by that document. */
  _target?: DirectTarget;
  /** How many listeners deliver the counter document. */
  _listeners?: number;
  /** Whether a shard was refused though the document is open: without functions, all increments go to the document. */
  _hasNoShards?: boolean;
  /** While the shard count is read: resolves when it is known, or when writes no longer wait for it. */
  _reading?: Promise<void> | undefined;
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
    // A `DocumentReference` also has an `id` and a `path`, but it has a `type`.
    if (!type && path.endsWith(`/${id}`) && doc(firestore, path)) {
      known[path] ??= {
        firestore,
        id,
        path,
        _ref: Object.freeze({ firestore, id, path }),
        _shardCountCache: createShardCountCache(() => performance.now()),
        _calls: new Map(),
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
  const { _target: before } = counter;
  if (snapshot.metadata.fromCache && !snapshot.exists()) return;
  learn(counter, snapshot, growing);
  // A view may lack the last writes of this client.
  const { _target: target } = counter;
  if (before && target?._generation === before._generation && (before._room as number) < (target?._room as number))
    counter._target = before;
}

/** Keeps what a read of the server has found, which no view can be older than; `undefined` for a read that failed. */
export function learn(
  counter: Counter,
  snapshot: DocumentSnapshot | undefined,
  growing?: unknown,
  roundTrip?: number,
): void {
  const target = targetIn(snapshot, counter._hasNoShards);
  counter._latest = snapshot;
  counter._target = target;
  // An open counter that was never published has one shard.
  const published = snapshot?.get("shardCount") ?? (snapshot?.get("direct.open") && 1);
  // A crowd that the functions have not seen yet needs more.
  const shards = published === undefined ? undefined : Math.max(published, target._shards ?? 1);
  counter._shardCountCache._update(shards, growing, roundTrip);
}

/** Where the next increment goes by the counter document. @param hasNoShards - whether all go to the document */
export function targetIn(snapshot: DocumentSnapshot | undefined, hasNoShards: boolean | undefined): DirectTarget {
  return directTarget(snapshot?.exists() === false ? null : snapshot?.get("direct"), hasNoShards);
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

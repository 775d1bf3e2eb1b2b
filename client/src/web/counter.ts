/** A reference to one counter: where it is, and what this client knows about the counter. */
import {
  type DocumentReference,
  type DocumentSnapshot,
  doc,
  type Firestore,
  type FirestoreError,
  runTransaction,
  type Timestamp,
  type Transaction,
} from "firebase/firestore";
import {
  type CounterOptions,
  counterPath,
  createShardCountCache,
  DEFAULT_COLLECTION,
  type Reference,
  type ShardCountCache,
  SLOW_ACK_MS,
  validName,
} from "../../../core/src/index.ts";

/** Names one counter. The same object whenever the same counter is asked for. */
export type CounterRef = Reference<Firestore>;

/** What stands behind a reference. Names with an underscore are shortened when the package is built. */
export interface Counter extends CounterRef {
  readonly _shardCountCache: ShardCountCache;
  /** Shows the increments of this client before they are published; set by the first watch. */
  _watcher?: Watcher;
  /** What buffers hold back. */
  _buffered?: number;
  /** While the shard count is read: that it is, or was waited for long enough. */
  _reading?: Promise<void> | undefined;
}

export interface Watcher {
  /** An increment was made, or a keyed one taken back. Its outcome rejects if it does not count. */
  _track(by: number, outcome: Promise<Committed>, key: string | undefined): void;
  /** What buffers hold back grew by an amount. */
  _bufferedChanged(by: number): void;
}

/** An increment was committed. */
export interface Committed {
  /** The shard it is on. */
  readonly _path: string;
  /** The server's timestamp of the write, or a later one, if it had to be looked up; `null` if its key had counted before. */
  readonly _at: Timestamp | null | undefined;
}

const counters = new WeakMap<Firestore, Record<string, Counter>>();

/**
 * Refers to a counter. No I/O; the counter comes into being with its first increment.
 *
 * @param id - any Firestore document id. `group:key`, such as `views:home`, is the recommended form
 * @throws CounterError `counter/invalid-id` or `counter/invalid-collection`
 *
 * @example
 * ```ts
 * const views = counter(db, "views:home");
 * ```
 */
export function counter(firestore: Firestore, id: string, options: CounterOptions = {}): CounterRef {
  const path = counterPath(validName("collection", options.collection ?? DEFAULT_COLLECTION), validName("id", id));
  const known = counters.get(firestore) ?? {};
  counters.set(firestore, known);
  known[path] ??= { firestore, id, path, _shardCountCache: createShardCountCache(Date.now) };
  return known[path];
}

/** The counter document. */
export function counterDoc({ firestore, path }: CounterRef): DocumentReference {
  return doc(firestore, path);
}

/**
 * Reads the shard count if what is known is stale, once at a time. Never rejects: not knowing is safe. Cost: 1 read, once in
 * two minutes or 20 writes; once a second while writes are contended, once a second while the counter grows or is new.
 *
 * @returns what a write awaits: that read, for a second at most. `undefined` if the count is fresh, or where waiting could
 *          lose the write: on a hidden page or offline
 */
export function refreshShardCount(counter: Counter): Promise<void> | undefined {
  const { _shardCountCache } = counter;
  // First, because the SDK refuses a reference of the server SDK here.
  const document = counterDoc(counter);
  if (!_shardCountCache._isStale()) return;
  counter._reading ??= new Promise<void>((resolve) => {
    setTimeout(resolve, SLOW_ACK_MS);
    _shardCountCache._requestSent();
    readFromServer(document, 1)
      .catch(() => undefined)
      .then((snapshot) => {
        _shardCountCache._requestAnswered();
        _shardCountCache._update(snapshot?.get("shardCount"), snapshot?.get("growing"));
        counter._reading = undefined;
        resolve();
      });
  });
  return isHiddenOrOffline() ? undefined : counter._reading;
}

/** Whether what is not sent at once may never be, or cannot be sent now anyway. */
export function isHiddenOrOffline(): boolean | undefined {
  const { document, navigator } = globalThis;
  return document?.hidden || navigator?.onLine === false;
}

/**
 * A document as the server has it: in a transaction with nothing to commit. Outside of one the SDK would open a stream to
 * watch it, and overlay this client's unsent writes. Cost: 1 read.
 *
 * @returns `undefined` if this client may not read it
 */
export async function readFromServer(
  document: DocumentReference,
  maxAttempts: number,
): Promise<DocumentSnapshot | undefined> {
  let snapshot: DocumentSnapshot | undefined;
  const denied = { code: "permission-denied" };
  const read = async (transaction: Transaction) => {
    snapshot = await transaction.get(document);
    // Ends the transaction.
    throw denied;
  };
  await runTransaction(document.firestore, read, { maxAttempts }).catch(rethrowUnlessDenied);
  return snapshot;
}

/** Throws an error again, unless it says that the rules refuse something. */
export function rethrowUnlessDenied(error: unknown): void {
  if (!hasCode(error, "permission-denied")) throw error;
}

/** Whether a Firestore error has a code. React Native Firebase writes `firestore/` before it. */
export function hasCode(error: unknown, code: string): boolean | undefined {
  return (error as FirestoreError).code?.endsWith(code);
}

/** A reference to one counter: its place, and what this process has read and is writing. */
import { setTimeout as sleep } from "node:timers/promises";
import type { DocumentReference, DocumentSnapshot, Firestore } from "firebase-admin/firestore";
import {
  BASE_SHARD,
  type BucketCount,
  CounterError,
  type CounterOptions,
  type CounterRefBase,
  counterPath,
  createShardCountCache,
  DEFAULT_COLLECTION,
  givenName,
  randomShard,
  type ShardCountCache,
  shardsPath,
  validName,
} from "../../core/src/index.ts";
import type { Semaphore } from "./semaphore.ts";

/** A reference to one counter. The same object for the same counter. */
export type CounterRef = CounterRefBase<Firestore>;

/** The internal state of a reference. */
export interface Counter extends CounterRef {
  readonly _shardCountCache: ShardCountCache;
  /** Adds without `once`, in commits that increments of this process share. Created by the first one. */
  _add?: (by: number) => Promise<void>;
  /** Limits the pending commits of increments. Created by the first one. */
  _pendingCommits?: Semaphore;
  /** Whether the counter is bounded, as the counter document has said; `undefined` if it was not read. */
  _isBounded?: boolean;
  /** Whether the counter document shows that the counter has counted, so that it never becomes bounded unless it is deleted. */
  _isWritten?: boolean;
  /** While the counter document is read for that alone. */
  _boundedReading?: Promise<boolean> | undefined;
  /** What the counter document has said of its visitors. */
  _uniques?: { readonly floor: number; readonly buckets: BucketCount };
  /** When a read has found the counter document, by `Date.now()`. */
  _foundAt?: number;
  /** The pending read of the shard count, if any. */
  _reading?: Promise<void> | undefined;
}

const counters = new WeakMap<Firestore, Record<string, Counter>>();

/**
 * Creates a reference to a counter. No I/O. It takes some hundred bytes of memory per counter, as long as the process lives.
 *
 * @param id - any Firestore document id. `group:name`, such as `views:home`, is the recommended form
 * @throws CounterError `counter/invalid-id`, `counter/invalid-collection`; `counter/invalid-reference` for a database of
 *         another SDK
 *
 * @example
 * ```ts
 * const views = counter(getFirestore(), "views:home");
 * ```
 */
export function counter(firestore: Firestore, id: string, options?: CounterOptions): CounterRef {
  const collection = givenName(options, "collection") ?? DEFAULT_COLLECTION;
  const path = counterPath(collection, validName("id", id));
  const known = counters.get(firestoreOf({ firestore })) ?? {};
  counters.set(firestore, known);
  known[path] ??= newCounter(firestore, id, collection);
  return known[path];
}

/** A reference that no other call shares, and that the process may forget. The names must be valid. */
export function newCounter(firestore: Firestore, id: string, collection: string): Counter {
  return { firestore, id, path: counterPath(collection, id), _shardCountCache: createShardCountCache(Date.now) };
}

/**
 * The database of a reference.
 *
 * @throws CounterError `counter/invalid-reference` unless it is a database of `firebase-admin`, or for another document
 */
export function firestoreOf(ref: { readonly firestore: Firestore }): Firestore {
  const firestore: Partial<Firestore> | undefined = ref?.firestore;
  // Collections have `doc`, too, as have databases of other SDKs; and a document has a database.
  if (typeof firestore?.doc === "function" && firestore.getAll && !("get" in ref)) return ref.firestore;
  throw new CounterError(
    "counter/invalid-reference",
    "the database or the reference is not of the server SDK; pass getFirestore() of firebase-admin/firestore, or a " +
      "reference from counter() of firestore-tally/admin",
  );
}

/** The counter document. */
export function counterDoc(ref: CounterRef): DocumentReference {
  return firestoreOf(ref).doc(ref.path);
}

/**
 * The shard for an increment. Fractions go to `base`: the rules compare the counts before and after a client's write, and would
 * refuse increments of a shard with a fraction.
 */
export function shardFor({ _shardCountCache }: Counter, by: number): string {
  return Number.isSafeInteger(by) ? randomShard(_shardCountCache._shardsToChooseFrom(), Math.random) : BASE_SHARD;
}

/** A shard document. */
export function shardDoc(ref: CounterRef, shard: string): DocumentReference {
  return firestoreOf(ref).doc(`${shardsPath(ref.path)}/${shard}`);
}

/**
 * Reads the shard count if the known one is stale, one read at a time, and waits for it: eight seconds at most for the first
 * read, one second for later ones. Never rejects, since a write is correct on any shard. Cost: 1 read per two minutes or 20 writes; 1 per second while writes
 * are contended, and while the counter grows or is new.
 */
export async function refreshShardCount(counter: Counter): Promise<void> {
  const { _shardCountCache } = counter;
  if (!_shardCountCache._isStale()) return;
  counter._reading ??= read();
  await Promise.race([counter._reading, sleep(_shardCountCache._countTimeout(), undefined, { ref: false })]);

  async function read(): Promise<void> {
    const sentAt = performance.now();
    const snapshot = await counterDoc(counter)
      .get()
      .catch(() => undefined);
    noteRead(counter, snapshot, sentAt);
    counter._reading = undefined;
  }
}

/** The fields that {@link noteRead} needs. */
const WRITER_FIELDS = ["asOf", "direct.open", "shardCount", "growing", "bounded", "uniqueBuckets", "uniqueFloor"];

/** Reads counters at once, so that {@link refreshShardCount} need not. Cost: 1 read per counter. @returns those that exist */
export async function readCounters(refs: readonly Counter[]): Promise<Counter[]> {
  const [first] = refs;
  if (!first) return [];
  const sentAt = performance.now();
  const snapshots = await first.firestore.getAll(...refs.map(counterDoc), { fieldMask: WRITER_FIELDS });
  return refs.filter((ref, index) => {
    noteRead(ref, snapshots[index], sentAt);
    return snapshots[index]?.exists;
  });
}

/** Whether a counter document has a published total, or direct increments, as without functions. */
export function isWritten(counter: DocumentSnapshot): boolean {
  return counter.get("asOf") !== undefined || counter.get("direct") !== undefined;
}

/** Remembers what writers need of a counter document. @param snapshot  `undefined` if the read has failed */
function noteRead(counter: Counter, snapshot: DocumentSnapshot | undefined, sentAt: number): void {
  if (snapshot) {
    counter._isBounded = snapshot.get("bounded") === true;
    counter._isWritten = isWritten(snapshot);
    const buckets = snapshot.get("uniqueBuckets") === 256 ? 256 : 16;
    counter._uniques = { floor: snapshot.get("uniqueFloor") ?? 0, buckets };
    if (snapshot.exists) counter._foundAt = Date.now();
  }
  const roundTrip = snapshot && performance.now() - sentAt;
  counter._shardCountCache._update(snapshot?.get("shardCount"), snapshot?.get("growing"), roundTrip);
}

/** Reads counters: the published total, the exact sum, the history, and whether an increment with `once` counts. */
import { type DocumentSnapshot, FieldPath, type Timestamp } from "firebase-admin/firestore";
import {
  type CounterHistoryOptions,
  type CounterHistoryPoint,
  type CounterObserver,
  type CounterSnapshotBase,
  directCountOf,
  entryPath,
  HISTORY,
  historyPoints,
  historyRange,
  observing,
  overflow,
  shardsPath,
  toSnapshot,
  validName,
} from "../../core/src/index.ts";
import { latestSnapshot, sumShards, withReadTimeout } from "../../firestore/src/index.ts";
import { type CounterRef, counterDoc, firestoreOf } from "./counter.ts";

/** A total and the instant it is exact for. */
export type CounterSnapshot = CounterSnapshotBase<Timestamp>;

/**
 * Reads the published total. Cost: 1 read.
 *
 * @example
 * ```ts
 * const { total, asOf } = await getCounter(counter(db, "views:home"));
 * ```
 */
export async function getCounter(ref: CounterRef): Promise<CounterSnapshot> {
  return snapshotOf(await withReadTimeout(counterDoc(ref).get()));
}

/**
 * Reads the published totals of several counters of one database at one instant, in the order of `refs`. Cost: 1 read per counter.
 *
 * @example
 * ```ts
 * const totals = await getCounters(posts.map((id) => counter(db, `likes:${id}`)));
 * ```
 */
export async function getCounters(refs: readonly CounterRef[]): Promise<CounterSnapshot[]> {
  const [first] = refs;
  if (!first) return [];
  return (await withReadTimeout(firestoreOf(first).getAll(...refs.map(counterDoc)))).map(snapshotOf);
}

/**
 * The exact total now: the sum of the shards and the direct increments. Does not wait for the functions.
 *
 * Cost: 3 reads, and 2 more for each further 1,000 shards; 1 read per shard if the index of `firestore.indexes.json` is
 * missing, or a server has written shards that are not in it. For a counter that counts a collection, 1 read more per 1,000
 * documents. On Firestore's Enterprise edition, a call scans the shards: 161 read units per 1,000.
 *
 * @throws CounterError `counter/overflow` if the sum is infinite
 *
 * @example
 * ```ts
 * const left = await getExactTotal(counter(db, "stock:shoes"));
 * ```
 */
export async function getExactTotal(ref: CounterRef): Promise<number> {
  return await withReadTimeout(exactTotal(ref));
}

async function exactTotal(ref: CounterRef): Promise<number> {
  const firestore = firestoreOf(ref);
  const { path } = ref;
  const latest = await latestSnapshot();
  const counter = await firestore.runTransaction((transaction) => transaction.get(counterDoc(ref)), latest);
  // Of the same instant, so that an undo in another place is in both or in neither.
  const sum = await sumShards(firestore.collection(shardsPath(path)), { readTime: counter.readTime, ...latest });
  const counted: string | null | undefined = counter.get("countedCollection");
  if (counted) return (await firestore.collection(counted).count().get()).data().count;
  if (sum.overflows) throw overflow(ref.id);
  return sum.total + directCountOf(counter);
}

/**
 * The history of a counter: its state at the end of each minute, hour or day, in order. The functions keep it. The last point
 * is the current state. If nothing was published since `from`, the only
 * point is the last state before it, dated `from`.
 *
 * Where a point is missing, nothing was published in that step. Of the groups in `HISTORY`, hours are kept, and minutes of a counter
 * that is written at least once in the longest interval (`MAX_INTERVAL_SECONDS`), both for `HISTORY_DAYS`.
 *
 * Cost: 1 read of the counter, and 1 per hour with points (minutes) or day with points (hours, days), at least 1.
 *
 * @throws CounterError `counter/invalid-option`
 *
 * @example
 * ```ts
 * const to = new Date();
 * const from = new Date(to.getTime() - 7 * 24 * 3_600_000);
 * const points = await getCounterHistory(counter(db, "downloads:setup"), { from, to, step: "day" });
 * ```
 */
export async function getCounterHistory(
  ref: CounterRef,
  options: CounterHistoryOptions,
): Promise<CounterHistoryPoint[]> {
  const [first, last] = historyRange(options);
  const name = FieldPath.documentId();
  const kept = counterDoc(ref).collection(HISTORY).where(name, ">=", first).where(name, "<=", last);
  return await withReadTimeout(
    (async () => {
      // In this order: what leaves the counter document in between is in the history.
      const counter = (await counterDoc(ref).get()).data();
      const history = (await kept.get()).docs.map((document) => document.data());
      return historyPoints(counter, history, options);
    })(),
  );
}

/**
 * Watches the total: tells the observer the current one, and each new one: of a publish, at most about once a second; of a direct
 * increment, at once. Unlike in the web SDK, increments of this process show when they are published. Cost: 1 read per new total.
 *
 * @returns a function that ends the watch
 *
 * @example
 * ```ts
 * const stop = onCounter(stock, ({ total }) => { if (total < 10) reorder(); });
 * ```
 */
export function onCounter(ref: CounterRef, observer: CounterObserver<CounterSnapshot>): () => void {
  const [next, error] = observing(observer, console.error);
  return counterDoc(ref).onSnapshot((document) => next(snapshotOf(document)), error);
}

/** Converts a counter document, as of its read. */
export function snapshotOf(document: DocumentSnapshot): CounterSnapshot {
  return toSnapshot(document, false, document.readTime.toMillis());
}

/**
 * Whether an increment with this `once` counts. Cost: 1 read.
 *
 * @throws CounterError `counter/invalid-once`
 *
 * @example
 * ```ts
 * const counted = await getIncremented(counter(db, "sales:shoes"), order.id);
 * ```
 */
export async function getIncremented(ref: CounterRef, once: string): Promise<boolean> {
  return (await withReadTimeout(entryDoc(ref, once).get())).exists;
}

/**
 * Watches whether an increment with this `once` counts: tells the observer at once, and each change. Cost: 1 read, and 1 per change.
 *
 * @returns a function that ends the watch
 * @throws CounterError `counter/invalid-once`
 *
 * @example
 * ```ts
 * const stop = onIncremented(counter(db, "votes:42"), uid, (voted) => log(uid, voted));
 * ```
 */
export function onIncremented(ref: CounterRef, once: string, observer: CounterObserver<boolean>): () => void {
  const [next, error] = observing(observer, console.error);
  return entryDoc(ref, once).onSnapshot((entry) => next(entry.exists), error);
}

function entryDoc(ref: CounterRef, once: string) {
  return firestoreOf(ref).doc(entryPath(ref.path, validName("once", once)));
}

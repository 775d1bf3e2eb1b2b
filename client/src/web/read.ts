/** One-time reads of a counter: the published total, the exact sum, or the history. */
import {
  collection,
  documentId,
  getCountFromServer,
  getDoc,
  getDocFromServer,
  type QueryDocumentSnapshot,
  query,
  type Timestamp,
  where,
} from "firebase/firestore";
import {
  type CounterHistoryOptions,
  type CounterHistoryPoint,
  type CounterSnapshotBase,
  directCountOf,
  HISTORY,
  historyPoints,
  historyRange,
  toSnapshot,
} from "../../../core/src/index.ts";
import { type CounterRef, counterDoc, counterOf, documentRead, listFromServer, readFromServer } from "./counter.ts";
import { sumShards } from "./sum.ts";
import { timeFor } from "./timeFor.ts";

/** The rules let a client list as many documents of a history at once. */
const MOST_LISTED = 100;

/** A total, and what else the counter document tells. */
export type CounterSnapshot = CounterSnapshotBase<Timestamp>;

/** What a watch by HTTP knows of a counter. */
export type ServedCounterSnapshot = Pick<CounterSnapshot, "total" | "asOf" | "version" | "pending" | "fromCache">;

/**
 * Reads the published total. Cost: 1 read, for any number of shards. If the counter has windows and one of them has ended, now and
 * then 1 read more.
 *
 * @throws FirestoreError `unavailable` when offline and nothing is cached
 *
 * @example
 * ```ts
 * const { total, asOf } = await getCounter(counter(db, "views:home"));
 * ```
 */
export async function getCounter(ref: CounterRef): Promise<CounterSnapshot> {
  const snapshot = await getDoc(counterDoc(ref));
  documentRead(counterOf(ref), snapshot, snapshot.get("growing"));
  return toSnapshot(snapshot, snapshot.metadata.fromCache, await timeFor(ref, [snapshot]));
}

/**
 * Reads the published totals of several counters, in the order of `refs`. For lists, mirrors cost no read. Cost: 1 read per counter.
 *
 * @throws FirestoreError `unavailable` when offline and one of them is not cached
 *
 * @example
 * ```ts
 * const totals = await getCounters(posts.map((id) => counter(db, `likes:${id}`)));
 * ```
 */
export async function getCounters(refs: readonly CounterRef[]): Promise<CounterSnapshot[]> {
  return await Promise.all(refs.map(getCounter));
}

/**
 * Reads the exact total now: the sum of the shards and the direct increments. Does not wait for the functions. For decisions where a second of age
 * matters; to show a total, use `onCounter`. Increments that the server has not acknowledged are not included. The default rules let
 * operators alone sum shards, and users those of stock: `maySumShards`.
 *
 * Cost: 3 reads, and 2 more for each further 1,000 shards; 1 read more per shard if the index of `firestore.indexes.json` is
 * missing, if a server has written shards without the indexed fields, or if a shard is created or folded during the call. For a
 * counted collection, 1 read more per 1,000 documents. On Firestore's Enterprise edition, a call scans the shards: 161 read units per 1,000.
 *
 * @throws CounterError `counter/overflow` if the sum is infinite; FirestoreError `unavailable` when offline
 *
 * @example
 * ```ts
 * const left = await getExactTotal(counter(db, "stock:shoes"));
 * ```
 */
export async function getExactTotal(ref: CounterRef): Promise<number> {
  // First, because it refuses what is no reference.
  const counter = counterDoc(ref);
  // `disableNetwork` alone does not stop a transaction.
  const reading = globalThis.navigator?.onLine === false ? undefined : readFromServer(counter, 1);
  const [total, document] = await Promise.all([sumShards(ref), reading]);
  // Rejects if the device is offline, or if the rules do not let this client read it.
  const found = document ?? (await getDocFromServer(counter));
  const counted: string | null | undefined = found.get("countedCollection");
  return counted
    ? (await getCountFromServer(collection(ref.firestore, counted))).data().count
    : total + directCountOf(found);
}

/**
 * Reads the history of a counter: its state at the end of each minute, hour or day, in order. The last point is the current
 * state, unless `to` is before the last publish. If nothing was published since `from`, the only point is the last state before it, dated
 * `from`. The functions store the history, so clients write nothing for it.
 *
 * A step without a publish has no point. Counters of the groups in the functions' parameter `HISTORY` have a history: hours, and
 * minutes while a counter is written at least once in the longest interval between two totals, by default 10 seconds. Both are
 * stored for `HISTORY_DAYS`, by default 30 days.
 *
 * Cost: 1 read of the counter, and 1 per hour with points (minutes) or day with points (hours, days), at least 1.
 *
 * @throws CounterError `counter/invalid-option`
 * @throws FirestoreError `unavailable` when offline
 *
 * @example
 * ```ts
 * const to = new Date();
 * const from = new Date(to.getTime() - 24 * 3_600_000);
 * const points = await getCounterHistory(counter(db, "views:home"), { from, to, step: "hour" });
 * chart(points.map(({ at, total }) => [at, total]));
 * ```
 */
export async function getCounterHistory(
  ref: CounterRef,
  options: CounterHistoryOptions,
): Promise<CounterHistoryPoint[]> {
  const [first, last] = historyRange(options);
  const counter = await getDoc(counterDoc(ref));
  const history = collection(ref.firestore, `${ref.path}/${HISTORY}`);
  const docs: QueryDocumentSnapshot[] = [];
  for (let from = where(documentId(), ">=", first), isMore = true; isMore; ) {
    const page = await listFromServer(query(history, from, where(documentId(), "<=", last)), MOST_LISTED);
    docs.push(...page.docs);
    isMore = page.size > MOST_LISTED / 2;
    if (isMore) from = where(documentId(), ">", page.docs.at(-1)?.id);
  }
  return historyPoints(
    counter.data(),
    docs.map((doc) => doc.data()),
    options,
  );
}

/** Reading a counter once: the cached total, or the exact sum. */
import { collection, getDoc, getDocsFromServer, type Timestamp } from "firebase/firestore";
import { shardsPath, sumOfCounts } from "../../../core/src/index.ts";
import { type Snapshot, toSnapshot } from "../snapshot.ts";
import { type Counter, type CounterRef, counterDoc } from "./counter.ts";

/** A total and the instant it is exact for. */
export type CounterSnapshot = Snapshot<Timestamp>;

/**
 * Reads the cached total. Cost: 1 read, however many shards there are.
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
  (ref as Counter)._spread._learn(snapshot.get("shardCount"), snapshot.get("growing"));
  return toSnapshot(snapshot, snapshot.metadata.fromCache);
}

/**
 * Sums the shards at this instant, without waiting for the functions. Cost: 1 read per shard. For the rare place
 * where a second of age matters; show `onCounter` to people. Increments of this client that the server has not
 * acknowledged yet are included.
 *
 * @throws FirestoreError `unavailable` when offline
 *
 * @example
 * ```ts
 * const left = await getExactCounter(counter(db, "stock:shoes"));
 * ```
 */
export async function getExactCounter(ref: CounterRef): Promise<number> {
  const shards = await getDocsFromServer(collection(ref.firestore, shardsPath(ref.path)));
  return sumOfCounts(shards.docs.map((shard) => shard.get("count")));
}

/** Reading counters: the cached total, the exact sum, a watch, and whether a key counts. */
import type { Timestamp } from "firebase-admin/firestore";
import { entryPath, shardsPath, sumOfCounts, validName } from "../../../core/src/index.ts";
import { type Snapshot, toSnapshot } from "../snapshot.ts";
import { type CounterRef, counterDoc } from "./counter.ts";

/** A total and the instant it is exact for. */
export type CounterSnapshot = Snapshot<Timestamp>;

/**
 * Reads the cached total. Cost: 1 read, however many shards there are.
 *
 * @example
 * ```ts
 * const { total, asOf } = await getCounter(counter(db, "views:home"));
 * ```
 */
export async function getCounter(ref: CounterRef): Promise<CounterSnapshot> {
  return toSnapshot(await counterDoc(ref).get(), false);
}

/**
 * Sums the shards at this instant, without waiting for the functions. Cost: 1 read per shard.
 *
 * @example
 * ```ts
 * const left = await getExactCounter(counter(db, "stock:shoes"));
 * ```
 */
export async function getExactCounter(ref: CounterRef): Promise<number> {
  const shards = await ref.firestore.collection(shardsPath(ref.path)).select("count").get();
  return sumOfCounts(shards.docs.map((shard) => shard.get("count")));
}

/**
 * Watches the published total: calls `next` now and whenever a new one is published, at most about once a second.
 * Unlike in the web SDK, increments of this process show when they are published. Cost: 1 read per published total.
 *
 * @param error - called when the watch has failed, and with it ended
 * @returns a function that ends the watch
 *
 * @example
 * ```ts
 * const stop = onCounter(stock, ({ total }) => { if (total < 10) reorder(); });
 * ```
 */
export function onCounter(
  ref: CounterRef,
  next: (snapshot: CounterSnapshot) => void,
  error?: (error: Error) => void,
): () => void {
  return counterDoc(ref).onSnapshot((snapshot) => next(toSnapshot(snapshot, false)), error);
}

/**
 * Whether the counter counts for a key. Cost: 1 read.
 *
 * @throws CounterError `counter/invalid-key`
 *
 * @example
 * ```ts
 * const counted = await hasIncremented(counter(db, "sales:shoes"), order.id);
 * ```
 */
export async function hasIncremented(ref: CounterRef, key: string): Promise<boolean> {
  return (await entryDoc(ref, key).get()).exists;
}

/**
 * Watches whether the counter counts for a key: calls `next` now and whenever it changes. Cost: 1 read, and 1 per change.
 *
 * @returns a function that ends the watch
 * @throws CounterError `counter/invalid-key`
 *
 * @example
 * ```ts
 * const stop = onIncremented(counter(db, "votes:42"), uid, (voted) => log(uid, voted));
 * ```
 */
export function onIncremented(
  ref: CounterRef,
  key: string,
  next: (incremented: boolean) => void,
  error?: (error: Error) => void,
): () => void {
  return entryDoc(ref, key).onSnapshot((entry) => next(entry.exists), error);
}

function entryDoc({ firestore, path }: CounterRef, key: string) {
  return firestore.doc(entryPath(path, validName("key", key)));
}

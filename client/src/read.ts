/** Reading a counter: the cached total, the exact sum, and a watch. */
import {
  collection,
  type DocumentSnapshot,
  doc,
  type FirestoreError,
  getDoc,
  getDocsFromServer,
  onSnapshot,
  type Timestamp,
} from "firebase/firestore";
import { counterPath, shardsPath, sumOfCounts } from "../../core/src/index.ts";
import type { CounterRef } from "./counter.ts";
import { spreadOf } from "./knowledge.ts";

/** A total and the instant it is exact for. */
export interface CounterSnapshot {
  /** The sum of all increments committed at or before `asOf`; 0 for a counter nobody has incremented yet. */
  readonly total: number;
  /** The instant `total` is exact for; `null` for a counter without a published total. */
  readonly asOf: Timestamp | null;
  /** Writes per second, lately. */
  readonly rate: number;
  /** Over how many shards writers spread now. */
  readonly shardCount: number;
  /** Whether the total comes from this device's cache, because the server has not been reached. */
  readonly fromCache: boolean;
}

/**
 * Reads the cached total. Cost: 1 read, however many shards there are.
 *
 * @throws FirestoreError `unavailable` when offline and nothing is cached
 */
export async function getCounter(ref: CounterRef): Promise<CounterSnapshot> {
  return learn(ref, await getDoc(counterDoc(ref)));
}

/**
 * Sums the shards at this instant, without waiting for the functions. Cost: 1 read per shard. For the rare place
 * where a second of age matters; show `onCounter` to people. Increments of this client that the server has not
 * acknowledged yet are included.
 *
 * @throws FirestoreError `unavailable` when offline
 */
export async function getExactCounter(ref: CounterRef): Promise<number> {
  const shards = await getDocsFromServer(collection(ref.firestore, shardsPath(ref.collection, ref.id)));
  return sumOfCounts(shards.docs.map((shard) => shard.get("count")));
}

/**
 * Watches the cached total: calls `next` now and whenever a new total is published, at most about once a second.
 * While it watches, increments of this counter need no read of their own. Cost: 1 read per published total.
 *
 * @returns a function that ends the watch
 *
 * @example
 * const stop = onCounter(views, ({ total }) => { label.textContent = `${total} views`; });
 */
export function onCounter(
  ref: CounterRef,
  next: (snapshot: CounterSnapshot) => void,
  error?: (error: FirestoreError) => void,
): () => void {
  return onSnapshot(counterDoc(ref), (snapshot) => next(learn(ref, snapshot)), error);
}

function counterDoc(ref: CounterRef) {
  return doc(ref.firestore, counterPath(ref.collection, ref.id));
}

function learn(ref: CounterRef, snapshot: DocumentSnapshot): CounterSnapshot {
  const unknown = snapshot.metadata.fromCache && !snapshot.exists();
  if (!unknown) spreadOf(ref).learn(snapshot.get("shardCount"), Date.now());
  return {
    total: snapshot.get("total") ?? 0,
    asOf: snapshot.get("asOf") ?? null,
    rate: snapshot.get("rate") ?? 0,
    shardCount: snapshot.get("shardCount") ?? 1,
    fromCache: snapshot.metadata.fromCache,
  };
}

/** A reference to one counter: where it is, and what this process knows of it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { DocumentReference, Firestore } from "firebase-admin/firestore";
import {
  BASE_SHARD,
  type CounterOptions,
  counterPath,
  createShardCountCache,
  DEFAULT_COLLECTION,
  type Reference,
  randomShard,
  type ShardCountCache,
  SLOW_ACK_MS,
  shardsPath,
  validName,
} from "../../core/src/index.ts";

/** Names one counter. The same object whenever the same counter is asked for. */
export type CounterRef = Reference<Firestore>;

/** What stands behind a reference. */
export interface Counter extends CounterRef {
  readonly _shardCountCache: ShardCountCache;
  /** Adds without a key, in commits that this process's increments share. Made by the first of them. */
  _add?: (by: number) => Promise<void>;
  /** The read of the shard count under way, if any. */
  _reading?: Promise<void> | undefined;
}

const counters = new WeakMap<Firestore, Record<string, Counter>>();

/**
 * Refers to a counter. No I/O. Costs some hundred bytes of memory per counter, as long as the process lives.
 *
 * @param id - any Firestore document id. `group:key`, such as `views:home`, is the recommended form
 * @throws CounterError `counter/invalid-id` or `counter/invalid-collection`
 *
 * @example
 * ```ts
 * const views = counter(getFirestore(), "views:home");
 * ```
 */
export function counter(firestore: Firestore, id: string, options: CounterOptions = {}): CounterRef {
  const { collection = DEFAULT_COLLECTION } = options;
  const path = counterPath(validName("collection", collection), validName("id", id));
  const known = counters.get(firestore) ?? {};
  counters.set(firestore, known);
  known[path] ??= { firestore, id, path, _shardCountCache: createShardCountCache(Date.now) };
  return known[path];
}

/** The counter document. */
export function counterDoc({ firestore, path }: CounterRef): DocumentReference {
  return firestore.doc(path);
}

/**
 * The shard for an increment. What Firestore keeps in floating point goes to `base`: the rules compare what clients add with
 * what was there, and would refuse them on a shard that has a fraction.
 */
export function shardFor({ _shardCountCache }: Counter, by: number): string {
  return Number.isSafeInteger(by) ? randomShard(_shardCountCache._shardsToChooseFrom(), Math.random) : BASE_SHARD;
}

/** A shard document. */
export function shardDoc({ firestore, path }: CounterRef, shard: string): DocumentReference {
  return firestore.doc(`${shardsPath(path)}/${shard}`);
}

/**
 * Reads the shard count if what is known is stale, once at a time, and waits for it, but no longer than a write may take.
 * Never rejects: not knowing is safe. Cost: 1 read, once a minute or
 * in 20 writes; once a second while writes are contended.
 */
export async function refreshShardCount(counter: Counter): Promise<void> {
  const { _shardCountCache } = counter;
  if (!_shardCountCache._isStale()) return;
  counter._reading ??= read();
  await Promise.race([counter._reading, sleep(SLOW_ACK_MS, undefined, { ref: false })]);

  async function read(): Promise<void> {
    _shardCountCache._requestSent();
    const snapshot = await counterDoc(counter)
      .get()
      .catch(() => undefined);
    _shardCountCache._requestAnswered();
    _shardCountCache._update(snapshot?.get("shardCount"), snapshot?.get("growing"));
    counter._reading = undefined;
  }
}

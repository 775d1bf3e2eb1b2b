/** A reference to one counter: where it is, and what this process knows of it. */
import type { DocumentReference, Firestore } from "firebase-admin/firestore";
import {
  BASE_SHARD,
  counterPath,
  DEFAULT_COLLECTION,
  randomShard,
  shardsPath,
  validName,
} from "../../../core/src/index.ts";
import type { CounterOptions, Reference } from "../reference.ts";
import { createSpread, type Spread } from "../spread.ts";
import type { Register } from "./register.ts";

/** Names one counter. The same object whenever the same counter is asked for. */
export type CounterRef = Reference<Firestore>;

/** What stands behind a reference. */
export interface Counter extends CounterRef {
  readonly _spread: Spread;
  /** What this process has added, and what it has taken away. */
  readonly _registers: { add?: Register; sub?: Register };
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
  known[path] ??= { firestore, id, path, _spread: createSpread(Math.random), _registers: {} };
  return known[path];
}

/** The counter document. */
export function counterDoc({ firestore, path }: CounterRef): DocumentReference {
  return firestore.doc(path);
}

/**
 * The shard for an increment that shares a commit with something else. Fractions go to `base`: the rules compare what
 * clients add in floating point, and would refuse them on a shard that has one.
 */
export function shardFor({ _spread }: Counter, by: number): string {
  return Number.isInteger(by) ? randomShard(_spread._width(), Math.random) : BASE_SHARD;
}

/** A shard document. */
export function shardDoc({ firestore, path }: CounterRef, shard: string): DocumentReference {
  return firestore.doc(`${shardsPath(path)}/${shard}`);
}

/** Learns the shard count if what is known is old. Never rejects: not knowing is safe. Cost: 1 read, once a minute. */
export async function refreshSpread(counter: Counter): Promise<void> {
  if (!counter._spread._isStale(Date.now())) return;
  counter._reading ??= counterDoc(counter)
    .get()
    .catch(() => undefined)
    .then((snapshot) => {
      counter._spread._learn(Date.now(), snapshot?.get("shardCount"));
      counter._reading = undefined;
    });
  await counter._reading;
}

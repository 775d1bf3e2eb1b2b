/** Increments by a server: exact under retries, whatever becomes of a call. commit.ts says why. */
import { FieldValue, type QueryDocumentSnapshot, type Transaction, type WriteBatch } from "firebase-admin/firestore";
import {
  ALREADY_EXISTS,
  CounterError,
  codeOf,
  entryPath,
  isPreconditionFailure,
  validIncrement,
  validName,
} from "../../core/src/index.ts";
import { combine } from "./combine.ts";
import { type Create, commitOnce, delta, put } from "./commit.ts";
import { type Counter, type CounterRef, refreshShardCount, shardDoc } from "./counter.ts";
import { addOnce } from "./receipt.ts";
import { retry } from "./retry.ts";

/** How an increment counts. */
export interface IncrementOptions {
  /** Counts once for this key, however often and by whomever it is asked for: an order, a request, a user. */
  key?: string | undefined;
}

/**
 * Adds `by` to a counter. Resolves once Firestore has acknowledged it, and tries until it has: a call whose outcome is
 * unknown is repeated without counting twice. Rules do not apply.
 *
 * Without a key, increments made while a commit of this process for this counter is under way share the next one; if their
 * sum is 0, there is nothing to write. With a `key`, the counter counts exactly once for that key, across processes and
 * restarts: if the key counts already, with the same amount, that is success.
 *
 * Cost: 2 writes per commit; without a key, 1 delete a day later, when the commit's receipt expires; with a `key`, its entry
 * stays: without it, the key would count again. And 1 read when a process starts with a counter, then once a minute or in
 * 20 commits.
 *
 * @param by - a finite number, not 0
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-key` before any I/O; `counter/key-conflict` if the key
 *         counts another amount; `counter/unknown-outcome`, rarely: after a call without an answer Firestore refuses, or
 *         cannot be reached for half a day; errors of Firestore that will not pass, such as `PERMISSION_DENIED`: then it
 *         does not count
 *
 * @example
 * ```ts
 * await incrementCounter(counter(db, "downloads:setup.exe"));
 * await incrementCounter(counter(db, "sales:shoes"), order.quantity, { key: order.id });
 * ```
 */
export async function incrementCounter(ref: CounterRef, by = 1, options: IncrementOptions = {}): Promise<void> {
  const { key } = options;
  validIncrement(by, key);
  const counter = ref as Counter;
  if (key !== undefined) return await incrementOnce(counter, by, key);
  counter._add ??= combine((sum) => addOnce(counter, sum));
  await counter._add(by);
}

/**
 * Takes a keyed increment back. Success, too, if the key does not count.
 *
 * Cost: 1 read; if the key counts, 1 write and 1 delete more.
 *
 * @param key - the key it was made with
 * @throws CounterError `counter/invalid-key` before any I/O
 *
 * @example
 * ```ts
 * await undoIncrement(counter(db, "sales:shoes"), order.id);
 * ```
 */
export async function undoIncrement(ref: CounterRef, key: string): Promise<void> {
  const { firestore, path } = ref;
  const entry = await retry(() => firestore.doc(entryPath(path, validName("key", key))).get());
  if (!entry.exists) return;
  await retry(() => takeBack(ref as Counter, entry as QueryDocumentSnapshot)).catch((error) => {
    // The entry we saw has gone: by a try of ours whose outcome we never heard of, or by somebody else.
    if (!isPreconditionFailure(error)) throw error;
  });
}

/**
 * Adds an increment to a batch or transaction of yours: the order and its count are committed together or not at all.
 * No I/O of its own. Whether it counts once is up to your commit: create a document under an id of its own in it.
 *
 * Cost: 1 write of the batch, 2 with a `key`.
 *
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-key`
 *
 * @example
 * ```ts
 * await db.runTransaction(async (transaction) => {
 *   transaction.create(db.doc(`orders/${id}`), order);
 *   incrementCounterIn(transaction, counter(db, "orders:open"));
 * });
 * ```
 */
export function incrementCounterIn(
  writer: WriteBatch | Transaction,
  ref: CounterRef,
  by = 1,
  options: IncrementOptions = {},
): void {
  const { key } = options;
  validIncrement(by, key);
  const counter = ref as Counter;
  void refreshShardCount(counter);
  put(writer as WriteBatch, counter, by, key === undefined ? undefined : entry(counter, key, by));
}

/** What a keyed increment creates, so that it cannot be made again: the entry of its key. */
function entry({ firestore, path }: Counter, key: string, by: number): Create {
  const document = firestore.doc(entryPath(path, key));
  return (writer, shard) => writer.create(document, { by, shard, at: FieldValue.serverTimestamp() });
}

async function incrementOnce(counter: Counter, by: number, key: string): Promise<void> {
  await commitOnce(counter, by, entry(counter, key, by)).catch(async (error) => {
    if (codeOf(error) !== ALREADY_EXISTS) throw error;
    const known = await retry(() => counter.firestore.doc(entryPath(counter.path, key)).get());
    // Taken back since: it did count.
    if (!known.exists || known.get("by") === by) return;
    throw new CounterError(
      "counter/key-conflict",
      `"${key}" counts ${known.get("by")} in "${counter.id}" already, not ${by}; undo that first, or use another key`,
    );
  });
}

async function takeBack(counter: Counter, entry: QueryDocumentSnapshot): Promise<void> {
  const batch = counter.firestore.batch();
  batch.delete(entry.ref, { lastUpdateTime: entry.updateTime });
  const shard: string = entry.get("shard");
  batch.set(shardDoc(counter, shard), delta(shard, -entry.get("by")), { merge: true });
  await batch.commit();
}

/** Increments by a server, exact under retries. commit.ts says why. */
import { type DocumentSnapshot, FieldValue, type Transaction, type WriteBatch } from "firebase-admin/firestore";
import {
  ALREADY_EXISTS,
  CounterError,
  codeOf,
  entryPath,
  type IncrementArguments,
  isPreconditionFailure,
  validIncrement,
  validName,
} from "../../core/src/index.ts";
import { combine } from "./combine.ts";
import { addIncrement, type CreateDocument, commitOnce, shardUpdate } from "./commit.ts";
import { type Counter, type CounterRef, counterDoc, firestoreOf, refreshShardCount, shardDoc } from "./counter.ts";
import { unchanged } from "./precondition.ts";
import { addWithReceipt } from "./receipt.ts";
import { retry } from "./retry.ts";
import { refuseLowering } from "./stock.ts";

/** Options of {@link incrementCounter}. */
export interface IncrementOptions {
  /**
   * Counts once for this key, such as an order, a request or a user, however often and from wherever it is called. A key that is
   * `undefined` is refused, because without one each call counts.
   */
  key?: string;
}

/**
 * Adds `by` to a counter. Resolves once Firestore has acknowledged it: a call whose outcome is unknown is retried without
 * counting twice. Security rules do not apply.
 *
 * Without a key, increments made while a commit of this process for this counter is pending share the next one; if their
 * sum is 0, nothing is written. With a `key`, the counter counts exactly once for that key, across processes and restarts. If
 * the key counts already with the same amount, the call succeeds.
 *
 * A bounded counter is restocked so, by whole numbers above 0. `takeFromCounter` lowers it.
 *
 * Cost: 2 writes per commit; without a key, 1 delete a day later, when the commit's receipt expires. With a `key`, its entry
 * stays. And 1 read per process and counter, repeated after two minutes or 20 commits.
 *
 * @param by - a number within ±2⁵³, not 0; 1 if it is left out
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-key` before any I/O, also for `undefined`; `counter/bounded` if it would lower a
 *         bounded counter; `counter/key-conflict` if the key counts another amount; `counter/unknown-outcome`, rarely: if a call
 *         had no response, and then Firestore refuses the next one or is unreachable for half a day; Firestore's errors that
 *         are not transient, such as `PERMISSION_DENIED`: then the increment does not count
 *
 * @example
 * ```ts
 * await incrementCounter(counter(db, "downloads:setup.exe"));
 * await incrementCounter(counter(db, "sales:shoes"), order.quantity, { key: order.id });
 * ```
 */
export function incrementCounter(ref: CounterRef, by?: number, options?: IncrementOptions): Promise<void>;
export async function incrementCounter(ref: CounterRef, ...given: IncrementArguments): Promise<void> {
  const [by, key] = validIncrement(given);
  // First, because it refuses what is no reference.
  counterDoc(ref);
  const counter = ref as Counter;
  if (key !== undefined) return await incrementOnce(counter, by, key);
  await refuseLowering(counter, by);
  counter._add ??= combine((sum) => addWithReceipt(counter, sum));
  await counter._add(by);
}

/**
 * Takes a keyed increment back, or gives the units of a take back. Succeeds also if the key does not count.
 *
 * Cost: 1 read; if the key counts, 1 write and 1 delete more, and now and then the read of the counter document.
 *
 * @param key - the key of the increment
 * @throws CounterError `counter/invalid-key` before any I/O; `counter/bounded` if it would lower a bounded counter
 *
 * @example
 * ```ts
 * await undoIncrement(counter(db, "sales:shoes"), order.id);
 * ```
 */
export async function undoIncrement(ref: CounterRef, key: string): Promise<void> {
  const document = firestoreOf(ref).doc(entryPath(ref.path, validName("key", key)));
  const entry = await retry(() => document.get());
  // If it has changed since, an earlier attempt without a response was committed, or another process was first.
  if (entry.exists) await undoEntry(ref as Counter, entry);
}

/**
 * Deletes an entry and takes its amount back. Cost: 1 write, 1 delete; for an increment, 1 read of the counter document, unless it
 * is known.
 *
 * @returns `false` if the entry is not as it was read; then nothing was written
 * @throws CounterError `counter/bounded` if it would lower a bounded counter
 */
export async function undoEntry(counter: Counter, entry: DocumentSnapshot): Promise<boolean> {
  await refuseLowering(counter, -entry.get("by"));
  try {
    await retry(() => takeBack(counter, entry));
    return true;
  } catch (error) {
    if (isPreconditionFailure(error)) return false;
    throw error;
  }
}

/**
 * Adds an increment to a batch or transaction of yours, so that for example an order and its count are committed together. The
 * call itself only reads the shard count, now and then. To make the commit idempotent, create a document with a unique id in it.
 *
 * On a bounded counter, add whole numbers above 0 alone: less is not refused here, and may lower a shard below zero.
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
  by?: number,
  options?: IncrementOptions,
): void;
export function incrementCounterIn(
  writer: WriteBatch | Transaction,
  ref: CounterRef,
  ...given: IncrementArguments
): void {
  const [by, key] = validIncrement(given);
  const counter = ref as Counter;
  // First, because it refuses what is no reference.
  counterDoc(ref);
  void refreshShardCount(counter);
  addIncrement(writer as WriteBatch, counter, by, key === undefined ? undefined : entry(counter, key, by));
}

/** Creates the entry of a key, so that the increment cannot be committed again. */
function entry(counter: Counter, key: string, by: number): CreateDocument {
  const document = firestoreOf(counter).doc(entryPath(counter.path, key));
  return (writer, shard) => writer.create(document, { key, by, shard, at: FieldValue.serverTimestamp() });
}

async function incrementOnce(counter: Counter, by: number, key: string): Promise<void> {
  await refuseLowering(counter, by);
  await commitOnce(counter, by, entry(counter, key, by)).catch(async (error) => {
    if (codeOf(error) !== ALREADY_EXISTS) throw error;
    const known = await retry(() => counter.firestore.doc(entryPath(counter.path, key)).get());
    // Without an entry it did count, and was undone since.
    if (!known.exists || known.get("by") === by) return;
    throw new CounterError(
      "counter/key-conflict",
      `"${key}" already counts ${known.get("by")} in "${counter.id}", not ${by}; undo that first, or use another key`,
    );
  });
}

async function takeBack(counter: Counter, entry: DocumentSnapshot): Promise<void> {
  const batch = counter.firestore.batch();
  batch.delete(entry.ref, unchanged(entry));
  const shard: string = entry.get("shard");
  batch.set(shardDoc(counter, shard), shardUpdate(shard, -entry.get("by")), { merge: true });
  await batch.commit();
}

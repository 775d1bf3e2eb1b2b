/** Increments by a server, exact under retries. commit.ts says why. */
import { type DocumentSnapshot, FieldValue, type Transaction, type WriteBatch } from "firebase-admin/firestore";
import {
  ALREADY_EXISTS,
  CounterError,
  codeOf,
  DIRECT,
  entryPath,
  type IncrementArguments,
  isPreconditionFailure,
  validIncrement,
  validName,
} from "../../core/src/index.ts";
import { type CallOptions, retry, unchanged, withoutSignal, withSignal } from "../../firestore/src/index.ts";
import { combine } from "./combine.ts";
import { addIncrement, type CreateDocument, commitOnce, shardUpdate } from "./commit.ts";
import { type Counter, type CounterRef, counterDoc, firestoreOf, refreshShardCount, shardDoc } from "./counter.ts";
import { addWithReceipt } from "./receipt.ts";
import { refuseLowering } from "./stock.ts";

/** Options of {@link incrementCounter}. */
export interface IncrementOptions extends CallOptions {
  /**
   * What the increment counts once for, such as an order, a request or a user, however often and from wherever it is called. A `once` that is
   * `undefined` is refused, because without one each call counts.
   */
  once?: string;
}

/**
 * Adds `by` to a counter. Resolves once Firestore has acknowledged it: a call whose outcome is unknown is retried without
 * counting twice. Security rules do not apply.
 *
 * Without `once`, increments made while a commit of this process for this counter is pending share the next one; if their
 * sum is 0, nothing is written. With `once`, the counter counts it exactly once, across processes and restarts. If
 * it counts already with the same amount, the call succeeds.
 *
 * A `signal` ends the call. Without `once`, the shared commit goes on, so the amount may still count.
 *
 * A bounded counter is restocked so, by whole numbers above 0. `takeFromCounter` lowers it.
 *
 * Cost: 2 writes per commit; without `once`, 1 delete a day later, when the commit's receipt expires. With `once`, its entry
 * stays. And 1 read per process and counter, repeated after two minutes or 20 commits.
 *
 * @param by - a number within ±2⁵³, not 0; 1 if it is left out
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-once` before any I/O, also for `undefined`; `counter/bounded` if it would lower a
 *         bounded counter; `counter/once-conflict` if the `once` counts another amount; `counter/unknown-outcome` if the `signal` is
 *         aborted, and rarely: if a call had no response, and then Firestore refuses the next one or is unreachable for half a day; with
 *         `once` Firestore's error then: repeat the call; Firestore's errors that
 *         are not transient, such as `PERMISSION_DENIED`: then the increment does not count
 *
 * @example
 * ```ts
 * await incrementCounter(counter(db, "downloads:setup.exe"));
 * await incrementCounter(counter(db, "sales:shoes"), order.quantity, { once: order.id });
 * ```
 */
export function incrementCounter(ref: CounterRef, by?: number, options?: IncrementOptions): Promise<void>;
export async function incrementCounter(ref: CounterRef, ...given: IncrementArguments): Promise<void> {
  const [by, once] = validIncrement(given);
  // First, because it refuses what is no reference.
  counterDoc(ref);
  const counter = ref as Counter;
  await withSignal(given[1], () => (once === undefined ? add(counter, by) : incrementOnce(counter, by, once)));
}

async function add(counter: Counter, by: number): Promise<void> {
  await refuseLowering(counter, by);
  counter._add ??= combine((sum) => withoutSignal(() => addWithReceipt(counter, sum)));
  await counter._add(by);
}

/**
 * Takes an increment with `once` back, or gives the units of a take back. Succeeds also if it does not count.
 *
 * Cost: 1 read; if it counts, 1 write and 1 delete more, and now and then the read of the counter document.
 *
 * @param once - the `once` of the increment
 * @throws CounterError `counter/invalid-once` before any I/O; `counter/bounded` if it would lower a bounded counter
 *
 * @example
 * ```ts
 * await undoIncrement(counter(db, "sales:shoes"), order.id);
 * ```
 */
export async function undoIncrement(ref: CounterRef, once: string, options?: CallOptions): Promise<void> {
  const document = firestoreOf(ref).doc(entryPath(ref.path, validName("once", once)));
  await withSignal(options, async () => {
    const entry = await retry(() => document.get());
    // If it has changed since, an earlier attempt without a response was committed, or another process was first.
    if (entry.exists) await undoEntry(ref as Counter, entry);
  });
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
 * Cost: 1 write of the batch, 2 with `once`.
 *
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-once`
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
  options?: Pick<IncrementOptions, "once">,
): void;
export function incrementCounterIn(
  writer: WriteBatch | Transaction,
  ref: CounterRef,
  ...given: IncrementArguments
): void {
  const [by, once] = validIncrement(given);
  const counter = ref as Counter;
  // First, because it refuses what is no reference.
  counterDoc(ref);
  void refreshShardCount(counter);
  addIncrement(writer as WriteBatch, counter, by, once === undefined ? undefined : entry(counter, once, by));
}

/** Creates the entry of a `once`, so that the increment cannot be committed again. */
function entry(counter: Counter, once: string, by: number): CreateDocument {
  const document = firestoreOf(counter).doc(entryPath(counter.path, once));
  return (writer, shard) => writer.create(document, { once, by, shard, at: FieldValue.serverTimestamp() });
}

async function incrementOnce(counter: Counter, by: number, once: string): Promise<void> {
  await refuseLowering(counter, by);
  await commitOnce(counter, by, entry(counter, once, by)).catch(async (error) => {
    if (codeOf(error) !== ALREADY_EXISTS) throw error;
    const known = await retry(() => counter.firestore.doc(entryPath(counter.path, once)).get());
    // Without an entry it did count, and was undone since.
    if (!known.exists || known.get("by") === by) return;
    throw new CounterError(
      "counter/once-conflict",
      `"${once}" already counts ${known.get("by")} in "${counter.id}", not ${by}; undo that first, or pass another once`,
    );
  });
}

async function takeBack(counter: Counter, entry: DocumentSnapshot): Promise<void> {
  const batch = counter.firestore.batch();
  batch.delete(entry.ref, unchanged(entry));
  const counted: string = entry.get("shard");
  // Only clients write the counter document.
  const shard = counted === DIRECT ? "0" : counted;
  batch.set(shardDoc(counter, shard), shardUpdate(shard, -entry.get("by")), { merge: true });
  await batch.commit();
}

/** Increments by a server: exact under retries, whatever becomes of a call. */
import { FieldValue, type QueryDocumentSnapshot, type Transaction, type WriteBatch } from "firebase-admin/firestore";
import {
  ALREADY_EXISTS,
  CounterError,
  codeOf,
  entryPath,
  isPreconditionFailure,
  validIncrement,
  validName,
} from "../../../core/src/index.ts";
import { type Counter, type CounterRef, refreshSpread, shardDoc, shardFor } from "./counter.ts";
import { Register } from "./register.ts";
import { persist } from "./retry.ts";

/** How an increment counts. */
export interface IncrementOptions {
  /** Counts once for this key, however often and by whomever it is asked for: an order, a request, a user. */
  key?: string | undefined;
}

/**
 * Adds `by` to a counter. Resolves once Firestore has acknowledged it, and tries until it has: a call whose outcome is
 * unknown is repeated without counting twice. Rules do not apply.
 *
 * Without a key, this process writes to shards of its own, and increments made while a write is under way share the next
 * one. With a `key`, the counter counts exactly once for that key, across processes and restarts: if the key counts
 * already, with the same amount, that is success.
 *
 * Cost: at most 1 write per call, and 1 more when a process starts with a counter, 1 and 1 read when it comes back after
 * a pause; 2 writes with a `key`, whose entry stays: without it, the key would count again.
 *
 * @param by - a finite number, not 0
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-key` before any I/O; `counter/key-conflict` if the key
 *         counts another amount; `counter/unknown-outcome`, rarely; errors of Firestore that will not pass, such as
 *         `PERMISSION_DENIED`: then it does not count
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
  if (key !== undefined) await incrementOnce(counter, by, key);
  else await register(counter, by > 0 ? "add" : "sub").add(Math.abs(by));
}

function register(counter: Counter, direction: "add" | "sub"): Register {
  counter._registers[direction] ??= new Register(counter.firestore, counter.path, direction);
  return counter._registers[direction];
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
  const entry = await persist(() => firestore.doc(entryPath(path, validName("key", key))).get());
  if (!entry.exists) return;
  await persist(() => takeBack(ref as Counter, entry as QueryDocumentSnapshot)).catch((error) => {
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
  void refreshSpread(ref as Counter);
  write(writer as WriteBatch, ref as Counter, by, key);
}

function write(writer: WriteBatch, counter: Counter, by: number, key: string | undefined): void {
  const shard = shardFor(counter, by);
  const at = FieldValue.serverTimestamp();
  if (key !== undefined) writer.create(counter.firestore.doc(entryPath(counter.path, key)), { by, shard, at });
  writer.set(shardDoc(counter, shard), delta(by), { merge: true });
}

function delta(by: number) {
  return { count: FieldValue.increment(by), writes: FieldValue.increment(1), at: FieldValue.serverTimestamp() };
}

async function incrementOnce(counter: Counter, by: number, key: string): Promise<void> {
  await refreshSpread(counter);
  await persist(async () => {
    const batch = counter.firestore.batch();
    write(batch, counter, by, key);
    await batch.commit();
  }).catch(async (error) => {
    if (codeOf(error) !== ALREADY_EXISTS) throw error;
    const entry = await persist(() => counter.firestore.doc(entryPath(counter.path, key)).get());
    // Taken back since: it did count.
    if (!entry.exists || entry.get("by") === by) return;
    throw new CounterError(
      "counter/key-conflict",
      `"${key}" counts ${entry.get("by")} in "${counter.id}" already, not ${by}; undo that first, or use another key`,
    );
  });
}

async function takeBack(counter: Counter, entry: QueryDocumentSnapshot): Promise<void> {
  const batch = counter.firestore.batch();
  batch.delete(entry.ref, { lastUpdateTime: entry.updateTime });
  batch.set(shardDoc(counter, entry.get("shard")), delta(-entry.get("by")), { merge: true });
  await batch.commit();
}

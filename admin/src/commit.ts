/**
 * Makes the commit of an increment idempotent.
 *
 * A call may fail after the server has committed it, the Admin SDK retries some calls by itself, and a call may arrive after its
 * timeout. So the commit that adds to a shard also creates a document, under a name that only this increment uses. However
 * often the commit is sent, one succeeds, and the others fail as a whole, with ALREADY_EXISTS. With `once` the document is the
 * entry, which stays (increment.ts); without `once` it is a receipt, which expires (receipt.ts).
 */
import { FieldValue, type WriteBatch } from "firebase-admin/firestore";
import { ABORTED, CounterError, codeOf, DEADLINE_EXCEEDED } from "../../core/src/index.ts";
import { retry, throwIfAborted } from "../../firestore/src/index.ts";
import { type Counter, type CounterRef, counterDoc, refreshShardCount, shardDoc, shardFor } from "./counter.ts";
import { createSemaphore } from "./semaphore.ts";

/** Creates the document that belongs to an increment of this shard. */
export type CreateDocument = (writer: WriteBatch, shard: string) => void;

/** Adds an increment to a batch or transaction. */
export function addIncrement(writer: WriteBatch, counter: Counter, by: number, create?: CreateDocument): void {
  const shard = shardFor(counter, by);
  create?.(writer, shard);
  writer.set(shardDoc(counter, shard), shardUpdate(shard, by), { merge: true });
}

/** The fields of a shard that an increment changes. */
export function shardUpdate(shard: string, by: number) {
  return { shard, count: FieldValue.increment(by), writes: FieldValue.increment(1), at: FieldValue.serverTimestamp() };
}

/**
 * How many commits a process has pending per counter. On one shard, more only contend: 1,000 at once took one to four minutes, 50 at a time
 * one to three seconds. After the timeout, a commit gives its permit to another one.
 */
const MAX_PENDING_COMMITS = 50;
const PERMIT_TIMEOUT_MS = 5_000;

/**
 * Commits an increment, and retries until its outcome is known, on another shard each time. A commit that is slow or refused
 * as contended makes the next ones spread over more shards. Each attempt runs until its outcome is known: an abandoned one could be
 * committed after the increment was undone, and its entry deleted. Exception: a `signal` abandons the last attempt.
 *
 * @param create - called for each attempt
 * @throws ALREADY_EXISTS if it was committed, by this call or an earlier one; other errors that are not transient
 */
export async function commitOnce(counter: Counter, by: number, create: CreateDocument): Promise<void> {
  await refreshShardCount(counter);
  counter._pendingCommits ??= createSemaphore(MAX_PENDING_COMMITS, PERMIT_TIMEOUT_MS);
  const withPermit = counter._pendingCommits;
  await retry(() => withPermit(() => attempt(counter, by, create)));
}

async function attempt(counter: Counter, by: number, create: CreateDocument): Promise<void> {
  // The call may have waited for its permit.
  throwIfAborted();
  const sent = counter._shardCountCache._writeSent();
  const commit = mayLower(by) && !counter._isWritten ? commitUnlessBounded : commitBatch;
  await commit(counter, by, create).then(
    () => counter._shardCountCache._writeAnswered(sent),
    (error) => {
      counter._shardCountCache._writeAnswered(sent, isContention(error));
      throw error;
    },
  );
}

async function commitBatch(counter: Counter, by: number, create: CreateDocument): Promise<void> {
  const batch = counter.firestore.batch();
  addIncrement(batch, counter, by, create);
  await batch.commit();
}

/**
 * A counter whose document does not show that it has counted may become stock in this instant. Cost: 1 read more.
 *
 * @throws CounterError `counter/bounded`
 */
async function commitUnlessBounded(counter: Counter, by: number, create: CreateDocument): Promise<void> {
  await counter.firestore.runTransaction(async (transaction) => {
    throwIfAborted();
    if ((await transaction.get(counterDoc(counter))).get("bounded") === true) throw bounded(counter, by);
    addIncrement(transaction as unknown as WriteBatch, counter, by, create);
  });
}

/** Whether an increment may lower a bounded counter, or leave a fraction in it. */
export function mayLower(by: number): boolean {
  return !(Number.isSafeInteger(by) && by > 0);
}

/** An increment of a bounded counter is refused. */
export function bounded({ id }: CounterRef, what: number | string): CounterError {
  return new CounterError(
    "counter/bounded",
    `${typeof what === "number" ? `an increment by ${what}` : what} may lower "${id}" below zero; restock by whole numbers with incrementCounter, and lower it with takeFromCounter`,
  );
}

/** Whether a commit was refused as contended, or held back for too long. */
export function isContention(error: unknown): boolean {
  return codeOf(error) === ABORTED || codeOf(error) === DEADLINE_EXCEEDED;
}

/**
 * Makes the commit of an increment idempotent.
 *
 * A call may fail after the server has committed it, the Admin SDK retries some calls by itself, and a call may arrive after its
 * timeout. So the commit that adds to a shard also creates a document, under a name that only this increment uses. However
 * often the commit is sent, one succeeds, and the others fail as a whole, with ALREADY_EXISTS. With `once` the document is the
 * entry, which stays (increment.ts); without `once` it is a receipt, which expires (receipt.ts).
 */
import { FieldValue, type WriteBatch } from "firebase-admin/firestore";
import { ABORTED, codeOf, DEADLINE_EXCEEDED } from "../../core/src/index.ts";
import { type Counter, refreshShardCount, shardDoc, shardFor } from "./counter.ts";
import { createGate } from "./gate.ts";
import { retry } from "./retry.ts";

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
 * How many commits of increments with `once` a process has under way for a counter, and how long one keeps its place. On one shard more of
 * them at once only fail as contended: 1,000 at once took one to four minutes, in places of 50 one to three seconds.
 */
const PLACES = 50;
const TIMEOUT_MS = 5_000;

/**
 * Commits an increment, and retries until its outcome is known, on another shard each time. A commit that is slow or refused
 * as contended makes the next ones spread over more shards. Only a `signal` abandons an attempt: it could be
 * committed after the increment was undone, and its entry deleted.
 *
 * @param create - called for each attempt
 * @throws ALREADY_EXISTS if it was committed, by this call or an earlier one; other errors that are not transient
 */
export async function commitOnce(counter: Counter, by: number, create: CreateDocument): Promise<void> {
  await refreshShardCount(counter);
  counter._gate ??= createGate(PLACES, TIMEOUT_MS);
  const pass = counter._gate;
  await retry(() => pass(() => attempt(counter, by, create)));
}

async function attempt(counter: Counter, by: number, create: CreateDocument): Promise<void> {
  const batch = counter.firestore.batch();
  addIncrement(batch, counter, by, create);
  counter._shardCountCache._writeSent();
  await batch.commit().then(
    () => counter._shardCountCache._writeAnswered(),
    (error) => {
      counter._shardCountCache._writeAnswered(isContention(error));
      throw error;
    },
  );
}

/** Whether a commit was refused as contended, or held back for too long. */
export function isContention(error: unknown): boolean {
  return codeOf(error) === ABORTED || codeOf(error) === DEADLINE_EXCEEDED;
}

/**
 * Puts an increment into a commit that can be made only once.
 *
 * A call may fail after the server has committed it, the Admin SDK sends some calls again by itself, and one may arrive when
 * nobody waits for it any more. So the commit that adds to a shard also creates a document, under a name that is this
 * increment's alone: of all the times it is sent, one can create it, and the others fail as a whole, with ALREADY_EXISTS.
 * With a key that document is the entry, which stays (increment.ts); without one it is a receipt, which expires (receipt.ts).
 */
import { FieldValue, type WriteBatch } from "firebase-admin/firestore";
import { ABORTED, codeOf } from "../../core/src/index.ts";
import { type Counter, refreshShardCount, shardDoc, shardFor } from "./counter.ts";
import { retry } from "./retry.ts";

/** Creates the document that belongs to an increment of this shard. */
export type Create = (writer: WriteBatch, shard: string) => void;

/** Adds an increment to a batch or transaction. */
export function put(writer: WriteBatch, counter: Counter, by: number, create?: Create): void {
  const shard = shardFor(counter, by);
  create?.(writer, shard);
  writer.set(shardDoc(counter, shard), delta(shard, by), { merge: true });
}

/** What an increment changes of a shard. */
export function delta(shard: string, by: number) {
  return { shard, count: FieldValue.increment(by), writes: FieldValue.increment(1), at: FieldValue.serverTimestamp() };
}

/**
 * Commits an increment, and tries until its outcome is known, on another shard each time. A commit that is slow
 * or refused as contended makes the next ones spread wider.
 *
 * @param create - called for each try
 * @throws ALREADY_EXISTS if it was committed, by this call or an earlier one; what else will not pass
 */
export async function commitOnce(counter: Counter, by: number, create: Create): Promise<void> {
  await refreshShardCount(counter);
  await retry(async () => {
    const batch = counter.firestore.batch();
    put(batch, counter, by, create);
    counter._shardCountCache._requestSent();
    await batch.commit().then(
      () => counter._shardCountCache._requestAnswered(),
      (error) => {
        counter._shardCountCache._requestAnswered(codeOf(error) === ABORTED);
        throw error;
      },
    );
  });
}

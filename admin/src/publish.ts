/** Has the functions publish a counter again. */
import { FieldValue, type Transaction, type WriteBatch } from "firebase-admin/firestore";
import { BASE_SHARD } from "../../core/src/index.ts";
import { type CallOptions, retry, withSignal } from "../../firestore/src/index.ts";
import { type CounterRef, counterDoc, firestoreOf, shardDoc } from "./counter.ts";

/**
 * Has the functions sum up and publish a counter again, about a second later; a busy counter with its next publish. They also write the field
 * that `MIRRORS` names, even if the total has not changed: for a document that was created after the last publish, or whose field was
 * overwritten. Without a mirror, it publishes increments that failed functions have left. It creates a counter that does not exist.
 *
 * Cost: 2 writes, and those of the publish. Each watcher of the counter document gets two changes.
 *
 * @throws CounterError `counter/unknown-outcome` if the `signal` is aborted; then call it again
 *
 * @example
 * ```ts
 * await db.doc(`posts/${id}`).set(post);
 * await publishCounter(counter(db, `likes:${id}`));
 * ```
 */
export async function publishCounter(ref: CounterRef, options?: CallOptions): Promise<void> {
  const firestore = firestoreOf(ref);
  await withSignal(options, () =>
    retry(async () => {
      const batch = firestore.batch();
      batch.set(counterDoc(ref), { mirrorAgain: true }, { merge: true });
      triggerPublish(batch, ref);
      await batch.commit();
    }),
  );
}

/**
 * Writes `base`, which triggers the functions: a quiet counter is polled too rarely for shards whose writes trigger nothing. Cost: 1
 * write of the batch or transaction.
 */
export function triggerPublish(writer: WriteBatch | Transaction, ref: CounterRef): void {
  const trigger = { writes: FieldValue.increment(1), at: FieldValue.serverTimestamp() };
  (writer as WriteBatch).set(
    shardDoc(ref, BASE_SHARD),
    { shard: BASE_SHARD, count: FieldValue.increment(0), ...trigger },
    { merge: true },
  );
}

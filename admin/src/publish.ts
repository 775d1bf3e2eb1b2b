/** Has the functions publish a counter again. */
import { FieldValue, type WriteBatch } from "firebase-admin/firestore";
import { BASE_SHARD } from "../../core/src/index.ts";
import { type CallOptions, endingBy } from "./callOptions.ts";
import { type CounterRef, counterDoc, firestoreOf, shardDoc } from "./counter.ts";
import { retry } from "./retry.ts";

/**
 * Has the functions sum up and publish a counter again, a second later or less. Then its mirror shows the total again, if its document was made
 * since the last publish, or something else was written into the field. Without a mirror it helps where the functions have failed for
 * long. A counter that does not exist is made.
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
  await endingBy(options, () =>
    retry(async () => {
      const batch = firestore.batch();
      batch.set(counterDoc(ref), { mirroredIn: null }, { merge: true });
      wake(batch, ref);
      await batch.commit();
    }),
  );
}

/**
 * Writes `base`, which triggers the functions: a quiet counter is polled too rarely for shards whose writes trigger nothing. Cost: 1
 * write of the batch or transaction.
 */
export function wake(writer: Pick<WriteBatch, "set">, ref: CounterRef): void {
  const trigger = { writes: FieldValue.increment(1), at: FieldValue.serverTimestamp() };
  writer.set(
    shardDoc(ref, BASE_SHARD),
    { shard: BASE_SHARD, count: FieldValue.increment(0), ...trigger },
    { merge: true },
  );
}

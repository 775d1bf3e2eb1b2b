/** Sets the total of a counter. */
import type { WriteBatch } from "firebase-admin/firestore";
import { CounterError, Sketch, shardsPath, sketchPath, uniquesPath } from "../../core/src/index.ts";
import { adjustBase, commitAdjustment, retryAdjustment, sumOf } from "./base.ts";
import { type CounterRef, counterDoc, firestoreOf } from "./counter.ts";
import { unchanged } from "./moveLegacyIncrements.ts";

/** Options of {@link resetCounter}. */
export interface ResetOptions {
  /**
   * Whether the visitors are forgotten, too. Browsers then count their users again, once they have read the counter document:
   * after two minutes at most. Default `false`.
   */
  visitors?: boolean | undefined;
}

/**
 * Sets the total of a counter, at one instant between the call and its return: increments committed before it are discarded,
 * those after it count in full. No increment is blocked. Entries stay, so keys that count still do, and what was counted today
 * still was.
 *
 * Cost: 1 read per shard and 2 writes; again, after a pause, if a fold, another reset or a merge of visitors came in between.
 * With `visitors`, 1 read and 2 writes more, and 1 read and 1 delete per bucket of visitors, up to 272.
 *
 * @param to - the new total
 * @throws CounterError `counter/invalid-amount`; `counter/contention` if a server writes `shards/base` all the time
 *
 * @example
 * ```ts
 * await resetCounter(counter(db, "visits:today"), 0);
 * ```
 */
export async function resetCounter(ref: CounterRef, to: number, options: ResetOptions = {}): Promise<void> {
  validTotal(to);
  await retryAdjustment(ref, async () => {
    const shards = await firestoreOf(ref).collection(shardsPath(ref.path)).select("count").get();
    const batch = ref.firestore.batch();
    adjustBase(batch, ref, shards, to - sumOf(shards));
    if (options.visitors) await forgetVisitors(batch, ref);
    await commitAdjustment(batch);
  });
}

/**
 * The sketch becomes empty instead of being deleted, so that a merge that has found none fails. A merge since the sketch was
 * read makes the reset begin again: it may have visitors of buckets that were not listed. Browsers compare
 * `uniqueEpoch` with what they remember.
 */
async function forgetVisitors(batch: WriteBatch, ref: CounterRef): Promise<void> {
  const sketch = await ref.firestore.doc(sketchPath(ref.path)).get();
  const buckets = await ref.firestore.collection(uniquesPath(ref.path)).get();
  for (const bucket of buckets.docs) batch.delete(bucket.ref);
  // Visitors who came after the listing are not removed, and not merged either.
  const asOf = buckets.readTime;
  const { format, bytes } = new Sketch().serialize();
  const empty = { format, bytes: Buffer.from(bytes), uniques: 0, buckets: 16, asOf };
  if (sketch.exists) batch.update(sketch.ref, empty, unchanged(sketch));
  else batch.create(sketch.ref, empty);
  const published = { uniques: 0, uniquesAsOf: asOf, uniqueFloor: 0, uniqueBuckets: 16 };
  batch.set(counterDoc(ref), { ...published, uniqueEpoch: asOf }, { merge: true });
}

/** @throws CounterError `counter/invalid-amount` */
export function validTotal(total: unknown): void {
  if (!Number.isFinite(total)) {
    throw new CounterError("counter/invalid-amount", `total is "${String(total)}"; pass a finite number`);
  }
}

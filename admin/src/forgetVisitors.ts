/** Forgets who has visited a counter. */
import type { WriteBatch } from "firebase-admin/firestore";
import { Sketch, sketchPath, uniquesPath } from "../../core/src/index.ts";
import { type CallOptions, withSignal, writeIfUnchanged } from "../../firestore/src/index.ts";
import { commitAdjustment, retryAdjustment } from "./base.ts";
import { type CounterRef, counterDoc, firestoreOf } from "./counter.ts";

/**
 * Forgets the visitors of a counter: the hashes that are kept of them, and `uniques`. The total stays. Browsers then count their users again,
 * once they have read the counter document: after two minutes at most.
 *
 * With regions, call it for each region's counter, then run `npx firestore-tally exchange`.
 *
 * Cost: 1 read and 2 writes, and 1 read and 1 delete per bucket of visitors, up to 272. Again, after a pause, if visitors were merged in
 * between.
 *
 * @throws CounterError `counter/unknown-outcome` if the `signal` is aborted; then call it again
 *
 * @example
 * ```ts
 * await forgetVisitors(counter(db, "views:home"));
 * ```
 */
export async function forgetVisitors(ref: CounterRef, options?: CallOptions): Promise<void> {
  const firestore = firestoreOf(ref);
  await withSignal(options, () =>
    retryAdjustment(ref, async () => {
      const batch = firestore.batch();
      await forgetVisitorsIn(batch, ref);
      await commitAdjustment(batch);
    }),
  );
}

/**
 * Adds to the batch what forgets the visitors; nothing for a counter that does not exist. Cost: 1 read and 1 per bucket; 2 writes and 1
 * delete per bucket.
 *
 * The sketch is emptied, not deleted, so that the commit of a merge that has found no sketch fails. If a merge changes the sketch
 * meanwhile, the batch fails: the merge may have had visitors of buckets that this listing lacks. Browsers see by `uniquesResetAt` that
 * their memory is out of date.
 */
export async function forgetVisitorsIn(batch: WriteBatch, ref: CounterRef): Promise<void> {
  const sketch = await ref.firestore.doc(sketchPath(ref.path)).get();
  const buckets = await ref.firestore.collection(uniquesPath(ref.path)).get();
  // A merge writes the counter document, so one that came in between makes the commit fail.
  const isMissing = !sketch.exists && buckets.empty && !(await counterDoc(ref).get()).exists;
  if (isMissing) return;
  for (const bucket of buckets.docs) batch.delete(bucket.ref);
  // A visitor in a new bucket after the listing stays for the next merge.
  const asOf = buckets.readTime;
  const { format, bytes } = new Sketch().serialize();
  const empty = { format, bytes: Buffer.from(bytes), uniques: 0, buckets: 16, asOf };
  writeIfUnchanged(batch, sketch, empty);
  const published = { uniques: 0, uniquesAsOf: asOf, uniqueFloor: 0, uniqueBuckets: 16 };
  batch.set(counterDoc(ref), { ...published, uniquesResetAt: asOf }, { merge: true });
}

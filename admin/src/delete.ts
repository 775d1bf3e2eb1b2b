/** Deletes a counter with its subcollections. */
import type { CollectionReference } from "firebase-admin/firestore";
import { ITEM_COUNTS, receiptsPath, VISITORS } from "../../core/src/index.ts";
import { retry } from "../../firestore/src/index.ts";
import { type CounterRef, counterDoc } from "./counter.ts";
import { setCounterSource } from "./source.ts";

/** Options of {@link deleteCounter}. */
export interface DeleteCounterOptions {
  /** Called after each deleted document, with the number deleted so far and the number at the start. */
  onProgress?: ((deleted: number, documents: number) => void) | undefined;
}

/** How often the collections are listed at most, since each deletion takes time in which a merge may create one. */
const MAX_ROUNDS = 3;

/**
 * Deletes a counter: its shards, entries, corrections, history, visitors and items, and the counter document last. Its receipts stay
 * until they expire, because what a sender sends again must not count again, for the other counters of a batch either. The call can
 * be repeated, and continues where it was interrupted. Stop the counter's writers two minutes before: a later increment, or the event of an
 * earlier one that is still on its way, starts the counter anew, as does a creation or deletion in a collection that the functions
 * count. Browsers remember the users they have counted, even for a new counter with the same id. To count visitors afresh, call
 * `forgetVisitors` instead.
 *
 * Cost: 1 write, 1 read and 1 delete per document, and 1 read per 1,000 to count them.
 *
 * @example
 * ```ts
 * await deleteCounter(counter(db, "likes:post42"), { onProgress: (done, all) => bar.update(done / all) });
 * ```
 */
export async function deleteCounter(ref: CounterRef, options: DeleteCounterOptions = {}): Promise<void> {
  // First, so that no scheduled reconcile takes the deleted shards for drift.
  await setCounterSource(ref, null);
  let { parts, documents } = await extentOf(ref);
  let deleted = 0;
  const writer = ref.firestore.bulkWriter();
  writer.onWriteResult(() => options.onProgress?.(++deleted, documents));
  // What waits before the sketches: a merge in between would create another one.
  const waits = ({ id }: CollectionReference) => id === VISITORS || id === ITEM_COUNTS;
  // Not for ever, because writers may not have been stopped.
  for (let round = 0; parts.length > 0 && round < MAX_ROUNDS; round++) {
    const inOrder = parts.toSorted((a, b) => Number(waits(b)) - Number(waits(a)));
    for (const part of inOrder) await ref.firestore.recursiveDelete(part, writer);
    parts = await partsOf(ref);
  }
  await Promise.all([writer.delete(counterDoc(ref)), writer.close()]);
}

/**
 * The collections of a counter that are deleted with it, and how many documents they have, the counter document included. Cost: 1
 * read per 1,000 documents.
 */
export async function extentOf(ref: CounterRef): Promise<{ parts: CollectionReference[]; documents: number }> {
  const parts = await partsOf(ref);
  const counts = await Promise.all(parts.map((part) => retry(() => part.count().get())));
  return { parts, documents: counts.reduce((sum, count) => sum + count.data().count, 1) };
}

async function partsOf(ref: CounterRef): Promise<CollectionReference[]> {
  return (await retry(() => counterDoc(ref).listCollections())).filter(({ path }) => path !== receiptsPath(ref.path));
}

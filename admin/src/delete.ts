/** Deletes a counter with its subcollections. */
import { type BulkWriter, type CollectionReference, FieldPath } from "firebase-admin/firestore";
import { COUNTER_COLLECTIONS } from "../../core/src/index.ts";
import { retry } from "../../firestore/src/index.ts";
import { type CounterRef, counterDoc } from "./counter.ts";
import { setCounterSource } from "./source.ts";

/** Options of {@link deleteCounter}. */
export interface DeleteCounterOptions {
  /** Called after each deleted document, with the number deleted so far and the number at the start. */
  onProgress?: ((deleted: number, documents: number) => void) | undefined;
}

/** How often the collections are looked through at most, since each deletion takes time in which a merge may create one. */
const MAX_ROUNDS = 3;

/**
 * Deletes a counter: its shards, entries, corrections, history, visitors and items, and the counter document last. Its receipts stay
 * until they expire, because what a sender sends again must not count again, for the other counters of a batch either. The call can
 * be repeated, and continues where it was interrupted. Stop the counter's writers two minutes before: a later increment, or the event of an
 * earlier one that is still on its way, starts the counter anew, as does a creation or deletion in a collection that the functions
 * count. Browsers remember the users they have counted, even for a new counter with the same id. To count visitors afresh, call
 * `forgetVisitors` instead.
 *
 * Cost: 1 write, 1 read and 1 delete per document, and 1 read per 1,000 to count them; twice 1 read at least for each of 8 collections.
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
  // Not for ever, because writers may not have been stopped.
  for (let round = 0; parts.length > 0 && round < MAX_ROUNDS; round++) {
    for (const part of parts) await deleteDocuments(part, writer);
    ({ parts } = await extentOf(ref));
  }
  await Promise.all([writer.delete(counterDoc(ref)), writer.close()]);
}

/** Documents listed at a time. */
const PAGE = 500;

/** Deletes the documents of a collection. Those of Tally have no collections below. */
async function deleteDocuments(part: CollectionReference, writer: BulkWriter): Promise<void> {
  const pages = part.select().orderBy(FieldPath.documentId()).limit(PAGE);
  for (let page = await retry(() => pages.get()); !page.empty; ) {
    const deletions = page.docs.map((document) => writer.delete(document.ref));
    await Promise.all([writer.flush(), ...deletions]);
    if (page.size < PAGE) return;
    const next = pages.startAfter(page.docs.at(-1));
    page = await retry(() => next.get());
  }
}

/**
 * The collections of a counter that are deleted with it and have documents, and how many documents there are, the counter document
 * included. Cost: 1 read per 1,000 documents, at least 1 for each of 8 collections.
 */
export async function extentOf(ref: CounterRef): Promise<{ parts: CollectionReference[]; documents: number }> {
  const all = await Promise.all(
    COUNTER_COLLECTIONS.map(async (name) => {
      const part = counterDoc(ref).collection(name);
      return { part, documents: (await retry(() => part.count().get())).data().count };
    }),
  );
  const parts = all.filter(({ documents }) => documents > 0).map(({ part }) => part);
  return { parts, documents: all.reduce((sum, { documents }) => sum + documents, 1) };
}

/** What only a server may do to a counter: start it at a number, set it, delete it. */
import { type CollectionReference, FieldValue } from "firebase-admin/firestore";
import {
  ALREADY_EXISTS,
  BASE_SHARD,
  CounterError,
  codeOf,
  isPreconditionFailure,
  shardsPath,
} from "../../../core/src/index.ts";
import { moveBase, sumOf } from "./base.ts";
import { type CounterRef, counterDoc, shardDoc } from "./counter.ts";
import { persist } from "./retry.ts";
import { setSource } from "./source.ts";

/** How a counter starts. */
export interface EnsureOptions {
  /** The total it starts with. Default 0. */
  initial?: number | undefined;
}

/**
 * Makes sure that a counter exists. If it does, nothing changes, however often this is called and by whom; if it does
 * not, it starts at `initial`. Increments may go on meanwhile, and count.
 *
 * Call it before the first increment: a counter that somebody has incremented exists.
 *
 * Cost: 2 reads, and 1 write if it does not exist.
 *
 * @throws CounterError `counter/invalid-amount`
 *
 * @example
 * ```ts
 * await ensureCounter(counter(db, "stock:shoes"), { initial: 500 });
 * ```
 */
export async function ensureCounter(ref: CounterRef, options: EnsureOptions = {}): Promise<void> {
  const { initial = 0 } = options;
  validTotal(initial);
  const base = shardDoc(ref, BASE_SHARD);
  await persist(async () => {
    // A counter document without a total is no counter yet: setSource may have come first.
    const [counter, known] = await ref.firestore.getAll(counterDoc(ref), base, { fieldMask: ["asOf"] });
    if (counter?.get("asOf") !== undefined || known?.exists) return;
    await base.create({ count: initial, writes: 0, at: FieldValue.serverTimestamp() });
  }).catch((error) => {
    if (codeOf(error) !== ALREADY_EXISTS) throw error;
  });
}

/**
 * Sets the total of a counter, at one instant between the call and its return: increments committed before it are gone,
 * those after it count in full. Nobody is kept from incrementing. Entries stay, so keys that count still do.
 *
 * Cost: 1 read per shard and 1 write; again if a fold or another reset came between.
 *
 * @param to - the total from now on
 * @throws CounterError `counter/invalid-amount`
 *
 * @example
 * ```ts
 * await resetCounter(counter(db, "visits:today"), 0);
 * ```
 */
export async function resetCounter(ref: CounterRef, to: number): Promise<void> {
  validTotal(to);
  await persist(async () => {
    for (;;) {
      const shards = await ref.firestore.collection(shardsPath(ref.path)).select("count").get();
      const batch = ref.firestore.batch();
      moveBase(batch, ref, shards, to - sumOf(shards));
      try {
        await batch.commit();
        return;
      } catch (error) {
        if (!isPreconditionFailure(error)) throw error;
      }
    }
  });
}

/** What is told while a counter is deleted. */
export interface DeleteOptions {
  /** Called after each deleted document, with how many are and how many there were to begin with. */
  onProgress?: ((deleted: number, documents: number) => void) | undefined;
}

/**
 * Deletes a counter and all that belongs to it: shards, entries, receipts, corrections, and the counter document last. Can
 * be repeated, and goes on where it was interrupted. Stop its writers first: an increment that arrives later starts the
 * counter anew; and so does a creation or deletion in a collection that the functions count.
 *
 * Cost: 1 write, 1 read and 1 delete per document, and 1 read per 1,000 to count them.
 *
 * @example
 * ```ts
 * await deleteCounter(counter(db, "likes:post42"), { onProgress: (done, all) => bar.update(done / all) });
 * ```
 */
export async function deleteCounter(ref: CounterRef, options: DeleteOptions = {}): Promise<void> {
  // First, so that no scheduled reconcile takes what is deleted for drift.
  await setSource(ref, undefined);
  const { parts, documents } = await extentOf(ref);
  let deleted = 0;
  const writer = ref.firestore.bulkWriter();
  writer.onWriteResult(() => options.onProgress?.(++deleted, documents));
  for (const part of parts) await ref.firestore.recursiveDelete(part, writer);
  await Promise.all([writer.delete(counterDoc(ref)), writer.close()]);
}

/** The collections of a counter, and how many documents it has, itself included. Cost: 1 read per 1,000 documents. */
export async function extentOf(ref: CounterRef): Promise<{ parts: CollectionReference[]; documents: number }> {
  const parts = await counterDoc(ref).listCollections();
  const counts = await Promise.all(parts.map((part) => part.count().get()));
  return { parts, documents: counts.reduce((sum, count) => sum + count.data().count, 1) };
}

function validTotal(total: unknown): void {
  if (!Number.isFinite(total)) {
    throw new CounterError("counter/invalid-amount", `total is "${String(total)}"; pass a finite number`);
  }
}

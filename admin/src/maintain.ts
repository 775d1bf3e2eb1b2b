/** What only a server may do to a counter: start it at a number, set it, delete it. */
import { type CollectionReference, FieldValue, Timestamp } from "firebase-admin/firestore";
import { ALREADY_EXISTS, BASE_SHARD, CounterError, codeOf, MAX_SHARDS, shardsPath } from "../../core/src/index.ts";
import { commitMove, moveBase, retryMove, sumOf } from "./base.ts";
import { type CounterRef, counterDoc, shardDoc } from "./counter.ts";
import { persist } from "./retry.ts";
import { setSource } from "./source.ts";

/** How a counter starts. */
export interface EnsureOptions {
  /** The total it starts with. Default 0. */
  initial?: number | undefined;
  /** How many shards writers spread over at least, 1 to 10,000: for a crowd that is expected. Default: as few as there need be. */
  shards?: number | undefined;
  /** For how many milliseconds it has so many shards at least. Default an hour. */
  holdFor?: number | undefined;
}

const HOUR_MS = 3_600_000;

/**
 * Makes sure that a counter exists. If it does, its total does not change, however often this is called and by whom; if
 * it does not, it starts at `initial`. Increments may go on meanwhile, and count.
 *
 * Call it before the first increment: a counter that has been incremented exists.
 *
 * With `shards`, writers spread over at least so many from now on, for an hour or as long as `holdFor` says. Where a crowd
 * comes all at once, none of its writes then waits for the counter to grow. The parameter
 * `MAX_SHARDS` of the functions still holds.
 *
 * Cost: 2 reads, and 1 write if it does not exist; 1 read and 2 writes more with `shards`.
 *
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-option`
 *
 * @example
 * ```ts
 * await ensureCounter(counter(db, "stock:shoes"), { initial: 500 });
 * await ensureCounter(counter(db, "votes:final"), { shards: 200 });
 * ```
 */
export async function ensureCounter(ref: CounterRef, options: EnsureOptions = {}): Promise<void> {
  const { initial = 0, shards, holdFor = HOUR_MS } = options;
  validTotal(initial);
  if (shards !== undefined) validReservation(shards, holdFor);
  const base = shardDoc(ref, BASE_SHARD);
  await persist(async () => {
    // A counter document without a total is no counter yet: setSource may have come first.
    const [counter, known] = await ref.firestore.getAll(counterDoc(ref), base, { fieldMask: ["asOf"] });
    if (counter?.get("asOf") !== undefined || known?.exists) return;
    await base.create({ shard: BASE_SHARD, count: initial, writes: 0, at: FieldValue.serverTimestamp() });
  }).catch((error) => {
    if (codeOf(error) !== ALREADY_EXISTS) throw error;
  });
  if (shards !== undefined) await reserveShards(ref, shards, holdFor);
}

function validReservation(shards: number, holdFor: number): void {
  if (!(Number.isInteger(shards) && shards >= 1 && shards <= MAX_SHARDS)) {
    throw new CounterError(
      "counter/invalid-option",
      `shards is ${shards}; pass a whole number from 1 to ${MAX_SHARDS}`,
    );
  }
  if (!(holdFor > 0 && holdFor <= MAX_HOLD_MS)) {
    throw new CounterError("counter/invalid-option", `holdFor is ${holdFor}; pass milliseconds, up to 30 days`);
  }
}

/**
 * Clients read `shardCount` at once; the functions keep to the reservation with each publish. A write of `base` wakes them: a
 * counter that has been quiet is polled too rarely for shards whose writes wake nothing.
 */
async function reserveShards(ref: CounterRef, shards: number, holdFor: number): Promise<void> {
  await persist(() =>
    ref.firestore.runTransaction(async (transaction) => {
      const known = (await transaction.get(counterDoc(ref))).get("shardCount");
      const reservation = { shards, until: Timestamp.fromMillis(Date.now() + holdFor) };
      const shardCount = Math.max(Number(known) || 1, shards);
      transaction.set(counterDoc(ref), { reservation, shardCount }, { mergeFields: ["reservation", "shardCount"] });
      const woken = { shard: BASE_SHARD, writes: FieldValue.increment(1), at: FieldValue.serverTimestamp() };
      transaction.set(shardDoc(ref, BASE_SHARD), { count: FieldValue.increment(0), ...woken }, { merge: true });
    }),
  );
}

const MAX_HOLD_MS = 30 * 24 * HOUR_MS;

/**
 * Sets the total of a counter, at one instant between the call and its return: increments committed before it are gone,
 * those after it count in full. Nobody is kept from incrementing. Entries stay, so keys that count still do.
 *
 * Cost: 1 read per shard and 1 write; again, after a pause, if a fold or another reset came between.
 *
 * @param to - the total from now on
 * @throws CounterError `counter/invalid-amount`; `counter/contention` if a server writes `shards/base` all the time
 *
 * @example
 * ```ts
 * await resetCounter(counter(db, "visits:today"), 0);
 * ```
 */
export async function resetCounter(ref: CounterRef, to: number): Promise<void> {
  validTotal(to);
  await retryMove(ref, async () => {
    const shards = await ref.firestore.collection(shardsPath(ref.path)).select("count").get();
    const batch = ref.firestore.batch();
    moveBase(batch, ref, shards, to - sumOf(shards));
    await commitMove(batch);
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

/** Sets the total of a counter. */
import { CounterError, shardsPath } from "../../core/src/index.ts";
import { adjustBase, commitAdjustment, retryAdjustment, sumOf } from "./base.ts";
import { type CounterRef, firestoreOf } from "./counter.ts";

/**
 * Sets the total of a counter, at one instant between the call and its return: increments committed before it are discarded,
 * those after it count in full. No increment is blocked. Entries stay, so keys that count still do.
 *
 * Cost: 1 read per shard and 1 write; again, after a pause, if a fold or another reset came in between.
 *
 * @param to - the new total
 * @throws CounterError `counter/invalid-amount`; `counter/contention` if a server writes `shards/base` all the time
 *
 * @example
 * ```ts
 * await resetCounter(counter(db, "visits:today"), 0);
 * ```
 */
export async function resetCounter(ref: CounterRef, to: number): Promise<void> {
  validTotal(to);
  await retryAdjustment(ref, async () => {
    const shards = await firestoreOf(ref).collection(shardsPath(ref.path)).select("count").get();
    const batch = ref.firestore.batch();
    adjustBase(batch, ref, shards, to - sumOf(shards));
    await commitAdjustment(batch);
  });
}

/** @throws CounterError `counter/invalid-amount` */
export function validTotal(total: unknown): void {
  if (!Number.isFinite(total)) {
    throw new CounterError("counter/invalid-amount", `total is "${String(total)}"; pass a finite number`);
  }
}

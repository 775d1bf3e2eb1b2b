/** Sets the total of a counter. */
import type { DocumentSnapshot, Timestamp, WriteBatch } from "firebase-admin/firestore";
import {
  CounterError,
  directCountOf,
  type ItemSummaryDocument,
  isSafeAmount,
  itemSummaryPath,
  shardsPath,
  type TopItemsDocument,
  topItemsPath,
} from "../../core/src/index.ts";
import { type CallOptions, latestSnapshot, withSignal, writeIfUnchanged } from "../../firestore/src/index.ts";
import { adjustBase, commitAdjustment, retryAdjustment, sumOf } from "./base.ts";
import { refuseCountedCollection } from "./countedCollection.ts";
import { type CounterRef, counterDoc, firestoreOf } from "./counter.ts";
import { forgetVisitorsIn } from "./forgetVisitors.ts";
import { refuseIfBounded } from "./stock.ts";

/** Options of {@link resetCounter}. */
export interface ResetCounterOptions extends CallOptions {
  /** Whether the visitors are forgotten at the same instant. Default `false`. `forgetVisitors` forgets them, and keeps the total. */
  visitors?: boolean | undefined;
  /** Whether the top items begin anew, at the same instant. Default `false`. */
  items?: boolean | undefined;
}

/**
 * Sets the total of a counter, at one instant between the call and its return: increments committed before it are discarded,
 * those after it count in full. No increment is blocked. Entries stay, so what counts once still does. The sums of
 * today, this week and this month stay, too.
 *
 * A bounded counter is not reset: its units may be in a shopper's hands already. Restock it by `incrementCounter`, and lower it
 * by `takeFromCounter`.
 *
 * Cost: 2 reads, 1 more per shard, and 2 writes; again, after a pause, if a fold, another reset or a merge of visitors or items came in between.
 * With `visitors`, 1 read and 2 writes more, and 1 read and 1 delete per bucket of visitors, up to 272. With `items`, 1 read and
 * 2 writes more.
 *
 * @param to - the new total
 * @throws CounterError `counter/invalid-amount`; `counter/overflow`; `counter/bounded`; `counter/counted-collection`;
 *         `counter/contention` if a server writes `shards/base` all the time
 *
 * @example
 * ```ts
 * await resetCounter(counter(db, "visits:today"), 0);
 * ```
 */
export async function resetCounter(ref: CounterRef, to: number, options: ResetCounterOptions = {}): Promise<void> {
  validTotal("to", to);
  // First, because it refuses what is no reference.
  counterDoc(ref);
  await withSignal(options, () => setTotal(ref, to, options));
}

async function setTotal(ref: CounterRef, to: number, options: ResetCounterOptions): Promise<void> {
  await retryAdjustment(ref, async () => {
    // Before the shards, so that all it has was committed before `at`.
    const summary = options.items ? await ref.firestore.doc(itemSummaryPath(ref.path)).get() : undefined;
    const { shards, counter } = await readShardsAndDocument(ref);
    refuseCountedCollection(counter);
    // After the listing: a counter that has become bounded since has other shards, so the commit fails.
    await refuseIfBounded(ref, "a reset");
    const batch = ref.firestore.batch();
    adjustBase(batch, ref, shards, to - sumOf(shards) - directCountOf(counter));
    if (options.visitors) await forgetVisitorsIn(batch, ref);
    if (summary) forgetItems(batch, ref, summary, shards.readTime);
    await commitAdjustment(batch);
  });
}

/** In one snapshot, so that each increment is in it or not, wherever it was made. */
async function readShardsAndDocument(ref: CounterRef) {
  const all = firestoreOf(ref).collection(shardsPath(ref.path)).select("count");
  return await ref.firestore.runTransaction(
    async (transaction) => {
      const [counter, shards] = await Promise.all([transaction.get(counterDoc(ref)), transaction.get(all)]);
      return { counter, shards };
    },
    await latestSnapshot(),
  );
}

/**
 * Empties the summary, as {@link forgetVisitorsIn} does the sketch. A merge leaves out the items that still wait and were committed
 * until `resetAt`, so the reset need not read them.
 *
 * @param at  the instant at which the shards were listed: the total discards increments until then, too
 */
function forgetItems(batch: WriteBatch, ref: CounterRef, summary: DocumentSnapshot, at: Timestamp): void {
  writeIfUnchanged(batch, summary, { bytes: null, resetAt: at } satisfies ItemSummaryDocument<Timestamp>);
  const empty: TopItemsDocument<Timestamp> = { top: [], error: 0, total: 0, asOf: at };
  batch.set(ref.firestore.doc(topItemsPath(ref.path)), empty);
}

/** @throws CounterError `counter/invalid-amount` */
export function validTotal(name: string, total: unknown): number {
  if (isSafeAmount(total)) return total;
  throw new CounterError("counter/invalid-amount", `${name} is "${String(total)}"; pass a number within ±2^53`);
}

/**
 * Moves units of a bounded counter between its shards. Each transfer is one atomic batch with the precondition that the giving
 * shard is as it was listed, so no shard falls below zero, the sum does not change, and a batch that is sent again fails. Takes
 * wait for no lock: a take that comes first makes the batch fail, and the next measurement plans again.
 */
import { type CollectionReference, FieldValue } from "firebase-admin/firestore";
import { codeOf, DEADLINE_EXCEEDED } from "../../../../core/src/index.ts";
import { commitUnlessChanged } from "../../../../firestore/src/index.ts";
import type { Transfer } from "./stockPlan.ts";

/**
 * Resolves after ten seconds at the latest, even while a commit is pending; that one may still succeed. Where a crowd takes from
 * the giving shard, a commit may take minutes, and the publish that says which shards have units waits for this call.
 *
 * Cost: 1 write per shard that gives and 1 per shard that gets, for each transfer.
 */
export async function transferStock(shards: CollectionReference, transfers: readonly Transfer[]): Promise<void> {
  await Promise.all(transfers.map((transfer) => commitTransfer(shards, transfer)));
}

async function commitTransfer(shards: CollectionReference, { from, to }: Transfer): Promise<void> {
  const received = Object.entries(to);
  const units = received.reduce((sum, [, count]) => sum + count, 0);
  const batch = shards.firestore.batch();
  batch.update(shards.doc(from.id), { count: FieldValue.increment(-units) }, { lastUpdateTime: from.updatedAt });
  for (const [shard, count] of received) {
    // Without `writes` a new shard would not be in the index.
    const fields = { shard, count: FieldValue.increment(count), writes: FieldValue.increment(0) };
    batch.set(shards.doc(shard), fields, { merge: true });
  }
  await commitUnlessChanged(batch).catch((error) => {
    if (codeOf(error) !== DEADLINE_EXCEEDED) throw error;
  });
}

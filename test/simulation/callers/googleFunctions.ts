/**
 * What the functions of Google's counter do to the field that is moved: they add shards up, in transactions
 * (testkit/legacy/README.md).
 */
import type { Firestore, Transaction } from "firebase-admin/firestore";
import { FieldValue } from "../model/adminSdk.ts";
import { BRIDGED } from "../scenario/scenario.ts";

const { document, field } = BRIDGED;
const SHARDS = `${document}/_counter_shards_`;
const PARTIAL = `${SHARDS}/\tpart`;

/** Appends a sum to the partial shard. */
function append(transaction: Transaction, firestore: Firestore, sum: number): void {
  const update = { _id_: firestore.collection(SHARDS).doc().id, _data_: { [field]: sum } };
  const updates = { _updates_: FieldValue.arrayUnion(update) };
  transaction.set(firestore.doc(PARTIAL), updates as never, { merge: true });
}

/** The controller: adds the shards of clients to the field. With `partially` a worker: to a partial shard. */
export async function foldLegacyShards(firestore: Firestore, partially: boolean): Promise<void> {
  await firestore.runTransaction(async (transaction) => {
    const shown = await transaction.get(firestore.doc(document));
    const found = await transaction.get(firestore.collection(SHARDS));
    const shards = found.docs.filter(({ id }) => !id.startsWith("\t"));
    const sum = shards.reduce((all, shard) => all + (shard.get(field) ?? 0), 0);
    if (shards.length === 0) return;
    if (partially) append(transaction, firestore, sum);
    else transaction.set(shown.ref, { [field]: (shown.get(field) ?? 0) + sum }, { merge: true });
    for (const shard of shards) transaction.delete(shard.ref);
  });
}

/** A worker: adds a partial shard, as it saw it before, to the field, and appends what it takes to the partial shard. */
export async function movePartialShard(firestore: Firestore): Promise<void> {
  const partial = await firestore.doc(PARTIAL).get();
  const updates = (partial.get("_updates_") ?? []) as { _data_: Record<string, number> }[];
  const sum = updates.reduce((all, { _data_ }) => all + (_data_[field] ?? 0), 0);
  if (sum === 0) return;
  await firestore.runTransaction(async (transaction) => {
    const shown = await transaction.get(firestore.doc(document));
    transaction.set(shown.ref, { [field]: (shown.get(field) ?? 0) + sum }, { merge: true });
    append(transaction, firestore, -sum);
  });
}

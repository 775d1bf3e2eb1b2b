/**
 * Folds shards into `shards/base`, so that the counter needs no polls and costs little to measure.
 *
 * One atomic batch deletes shards and adds their counts to `base`. Each delete carries the precondition that its shard is
 * as it was listed, so a write in between makes the whole batch fail. No writer waits for a lock. A batch that is sent again
 * fails, since its shards are gone. Only shards that have been quiet for the cool-down are folded: a fold deletes their marks.
 */
import { type CollectionReference, FieldPath, FieldValue } from "firebase-admin/firestore";
import { commitUnlessChanged, type ListedShard, sumOfListed } from "../../../admin/src/internal.ts";
import { BASE_SHARD } from "../../../core/src/index.ts";
import { FOLD_PAGE_SIZE, foldableShards } from "./shards.ts";
import type { Millis } from "./time.ts";

export interface FoldResult {
  /** How many documents `shards` had. */
  readonly documents: number;
  /** How many of them are client shards from the index on, whenever they were written. */
  readonly candidates: number;
  readonly folded: number;
}

/**
 * Moves quiet shards into `base`; with `keepsUnits` those without units. Cost: 1 read per shard, 1 delete per folded one, and 1
 * write per 200 shards of which some are folded.
 */
export async function fold(
  shards: CollectionReference,
  fromIndex: number,
  quietSince: Millis,
  keepsUnits = false,
): Promise<FoldResult> {
  const pages = shards.select("count", "writes").orderBy(FieldPath.documentId()).limit(FOLD_PAGE_SIZE);
  let [documents, candidates, folded] = [0, 0, 0];
  for (let page = await pages.get(); ; page = await pages.startAfter(page.docs.at(-1)).get()) {
    const listed = sumOfListed(page).shards;
    documents += page.size;
    candidates += foldableShards(listed, fromIndex, Number.POSITIVE_INFINITY, keepsUnits).length;
    folded += await foldBatch(shards, foldableShards(listed, fromIndex, quietSince, keepsUnits));
    if (page.size < FOLD_PAGE_SIZE) return { documents, candidates, folded };
  }
}

/** @returns how many shards were folded: all, or none if one was written meanwhile */
async function foldBatch(shards: CollectionReference, quiet: readonly ListedShard[]): Promise<number> {
  if (quiet.length === 0) return 0;
  const batch = shards.firestore.batch();
  for (const { id, updatedAt } of quiet) batch.delete(shards.doc(id), { lastUpdateTime: updatedAt });
  const sum = (field: "count" | "writes") => FieldValue.increment(quiet.reduce((all, shard) => all + shard[field], 0));
  batch.set(
    shards.doc(BASE_SHARD),
    { shard: BASE_SHARD, count: sum("count"), writes: sum("writes"), at: FieldValue.serverTimestamp() },
    { merge: true },
  );
  return (await commitUnlessChanged(batch)) ? quiet.length : 0;
}

/**
 * Folds shards into `shards/base`, so that the counter needs no polls and costs little to measure.
 *
 * One atomic batch deletes shards and adds what they held to `base`. Each delete carries the precondition that its shard is
 * as it was listed, so a write in between makes the whole batch fail. No writer waits for a lock, and a repetition is
 * harmless. Only shards that have been quiet for the cool-down are folded, because a shard's marks go with it.
 */
import { type CollectionReference, FieldPath, FieldValue } from "firebase-admin/firestore";
import { type ListedShard, sumOfListed } from "../../admin/src/sum.ts";
import { BASE_SHARD, isPreconditionFailure } from "../../core/src/index.ts";
import type { Millis } from "./config.ts";
import { toMillis } from "./counterDocument.ts";
import { shardIndex } from "./shards.ts";

/** Documents per page and batch: a straggler fails one batch, not the fold. */
const PAGE = 200;

/** The shards from an index on that have not been written since an instant. */
export function foldable(shards: readonly ListedShard[], fromIndex: number, quietSince: Millis): ListedShard[] {
  return shards.filter(({ id, updatedAt }) => (shardIndex(id) ?? -1) >= fromIndex && toMillis(updatedAt) <= quietSince);
}

/** What a fold has found and done. */
export interface Folded {
  /** Documents in `shards` before. */
  readonly documents: number;
  /** Those from the index on. */
  readonly surplus: number;
  readonly folded: number;
}

/** Moves quiet shards into `base`. Cost: 1 read per shard, 1 delete per folded one, and 1 write per 200 of them. */
export async function fold(shards: CollectionReference, fromIndex: number, quietSince: Millis): Promise<Folded> {
  const pages = shards.select("count", "writes").orderBy(FieldPath.documentId()).limit(PAGE);
  let [documents, surplus, folded] = [0, 0, 0];
  for (let page = await pages.get(); ; page = await pages.startAfter(page.docs.at(-1)).get()) {
    const listed = sumOfListed(page).shards;
    documents += page.size;
    surplus += foldable(listed, fromIndex, Number.POSITIVE_INFINITY).length;
    folded += await foldBatch(shards, foldable(listed, fromIndex, quietSince));
    if (page.size < PAGE) return { documents, surplus, folded };
  }
}

/** @returns how many shards were folded; a batch that met a straggler is left for the next time */
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
  try {
    await batch.commit();
    return quiet.length;
  } catch (error) {
    if (!isPreconditionFailure(error)) throw error;
    return 0;
  }
}

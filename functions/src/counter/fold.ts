/**
 * Folds shards into `shards/base`, so that the counter needs no polls and costs little to measure.
 *
 * One atomic batch deletes shards and adds their counts to `base`. Each delete carries the precondition that its shard is
 * as it was listed, so a write in between makes the whole batch fail. No writer waits for a lock. A batch that is sent again
 * fails, since its shards are gone. Only shards that have been quiet for the cool-down are folded: a fold deletes their marks.
 */
import { type CollectionReference, FieldPath, FieldValue, type Query } from "firebase-admin/firestore";
import { BASE_SHARD, codeOf, INVALID_ARGUMENT } from "../../../core/src/index.ts";
import {
  COMMIT_TIMEOUT_MS,
  commitUnlessChanged,
  type ListedShard,
  sumOfListed,
  withTimeout,
} from "../../../firestore/src/index.ts";
import { FOLD_PAGE_SIZE, foldableShards } from "./shards.ts";
import { type Millis, toMillis } from "./time.ts";

export interface FoldResult {
  /** How many documents `shards` had. */
  readonly documents: number;
  /** How many of them are client shards from the index on, whenever they were written. */
  readonly candidates: number;
  readonly folded: number;
  /** When the last of the candidates that were left was written, as far as the fold has read; `undefined` if all were folded. */
  readonly lastWritten: Millis | undefined;
}

/**
 * Moves quiet shards into `base`; with `onlyEmpty` only those whose count is 0 or less. Cost: 1 read per shard, 1 delete per folded
 * one, and 1 write per 200 shards of which some are folded.
 */
export async function fold(
  shards: CollectionReference,
  fromIndex: number,
  quietSince: Millis,
  onlyEmpty = false,
): Promise<FoldResult> {
  const pages = shards.select("count", "writes").orderBy(FieldPath.documentId()).limit(FOLD_PAGE_SIZE);
  let [documents, candidates, folded] = [0, 0, 0];
  let lastWritten: Millis | undefined;
  const read = (query: Query) => withTimeout(COMMIT_TIMEOUT_MS, query.get());
  for (let page = await read(pages); ; page = await read(pages.startAfter(page.docs.at(-1)))) {
    const listed = sumOfListed(page).shards;
    documents += page.size;
    const unused = foldableShards(listed, fromIndex, Number.POSITIVE_INFINITY, onlyEmpty);
    const quiet = foldableShards(listed, fromIndex, quietSince, onlyEmpty);
    const foldedHere = await foldBatch(shards, quiet);
    candidates += unused.length;
    folded += foldedHere;
    const left = unused.filter((shard) => !quiet.includes(shard)).map(({ updatedAt }) => updatedAt);
    // A batch fails if a shard was written after it was listed.
    if (foldedHere < quiet.length) left.push(page.readTime);
    if (left.length > 0) lastWritten = Math.max(lastWritten ?? 0, ...left.map(toMillis));
    if (page.size < FOLD_PAGE_SIZE) return { documents, candidates, folded, lastWritten };
  }
}

/** @returns how many shards were folded: all, or none if one was written meanwhile */
async function foldBatch(shards: CollectionReference, quiet: readonly ListedShard[]): Promise<number> {
  if (quiet.length === 0) return 0;
  try {
    return (await commitFold(shards, quiet)) ? quiet.length : 0;
  } catch (error) {
    if (codeOf(error) !== INVALID_ARGUMENT || quiet.length === 1) throw error;
    // Their marks make the commit too large.
    const middle = Math.ceil(quiet.length / 2);
    return (await foldBatch(shards, quiet.slice(0, middle))) + (await foldBatch(shards, quiet.slice(middle)));
  }
}

/** @returns whether it was made; not if a shard was written meanwhile */
async function commitFold(shards: CollectionReference, quiet: readonly ListedShard[]): Promise<boolean> {
  const batch = shards.firestore.batch();
  for (const { id, updatedAt } of quiet) batch.delete(shards.doc(id), { lastUpdateTime: updatedAt });
  const sum = (field: "count" | "writes") => FieldValue.increment(quiet.reduce((all, shard) => all + shard[field], 0));
  batch.set(
    shards.doc(BASE_SHARD),
    { shard: BASE_SHARD, count: sum("count"), writes: sum("writes"), at: FieldValue.serverTimestamp() },
    { merge: true },
  );
  return await commitUnlessChanged(batch);
}

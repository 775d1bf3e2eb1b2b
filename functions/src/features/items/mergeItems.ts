/**
 * Top items: merges the pending summaries in `tallyItemCounts` into the counter's, and publishes the most frequent items.
 *
 * Merging a summary twice would count its items twice. So one commit writes the merged summary and deletes what was merged, on the
 * preconditions that the summary and all that is deleted are as they were read. Of two merges of the same documents one fails as a
 * whole and reads again, and so does a commit that is sent again because its answer was lost (I13).
 */
import type {
  DocumentReference,
  DocumentSnapshot,
  QueryDocumentSnapshot,
  QuerySnapshot,
} from "firebase-admin/firestore";
import { ITEM_COUNTS, ItemSummary, itemSummaryPath, MAX_TOP_ITEMS, topItemsPath } from "../../../../core/src/index.ts";
import { commitUnlessChanged, unchanged, writeIfUnchanged } from "../../../../firestore/src/index.ts";
import { millis } from "../../counter/fields.ts";
import { logError } from "../../counter/log.ts";
import { toMillis } from "../../counter/time.ts";
import type { Merging } from "../../shared/merge.ts";

/** How many documents a commit merges, of 300 kB at most. */
const MAX_MERGED = 200;

/**
 * How many bytes a commit deletes. A commit has 10 MiB, and what it deletes counts
 * (https://firebase.google.com/docs/firestore/quotas#writes_and_transactions).
 */
const MAX_DELETED_BYTES = 6_000_000;

export const itemMerging: Merging = {
  kind: "mergeItems",
  target: itemSummaryPath,
  subcollection: ITEM_COUNTS,
  // One more, to know whether more is pending.
  limit: MAX_MERGED + 1,
  merge,
};

/** Cost: 2 writes, and 1 delete per merged document. */
async function merge(before: DocumentSnapshot, { docs, readTime }: QuerySnapshot): Promise<boolean> {
  if (docs.length === 0) return true;
  const counter = before.ref.parent.parent as DocumentReference;
  const resetAt = millis(before.get("resetAt")) ?? 0;
  const merged = thatFitInCommit(docs);
  const summary = before.get("bytes") ? parse(before) : new ItemSummary();
  for (const one of merged) {
    if (toMillis(one.createTime) > resetAt) summary.merge(parse(one));
  }
  const isAll = merged.length === docs.length;
  const asOf = isAll && { asOf: readTime };
  const batch = counter.firestore.batch();
  writeIfUnchanged(batch, before, { bytes: Buffer.from(summary.serialize()), ...asOf });
  const { error, total } = summary;
  const published = { top: summary.top(MAX_TOP_ITEMS), error, total, ...asOf };
  batch.set(counter.firestore.doc(topItemsPath(counter.path)), published, { merge: true });
  for (const one of merged) batch.delete(one.ref, unchanged(one));
  return (await commitUnlessChanged(batch)) && isAll;
}

/** As many as a commit may delete, at least one. */
function thatFitInCommit(docs: readonly QueryDocumentSnapshot[]): readonly QueryDocumentSnapshot[] {
  let bytes = 0;
  const end = docs.findIndex((one, index) => {
    bytes += Number(one.get("bytes")?.length) || 0;
    return index === MAX_MERGED || (index > 0 && bytes > MAX_DELETED_BYTES);
  });
  return end < 0 ? docs : docs.slice(0, end);
}

/** An empty summary instead of a damaged one, which a server has written. An error would only be retried for a day. */
function parse(stored: DocumentSnapshot): ItemSummary {
  try {
    return ItemSummary.parse(stored.get("bytes"));
  } catch (error) {
    logError("left out a damaged summary of items", { document: stored.ref.path, error });
    return new ItemSummary();
  }
}

/**
 * Visitors: merges the hashes in `tallyVisitors` into the counter's sketch, and publishes the estimate.
 *
 * A merge reads the sketch, then the buckets. One commit writes the merged sketch and the estimate, on the precondition that
 * the sketch is as it was read, so no merge can undo another (I10). Then the buckets are deleted, each on the precondition
 * that it is as it was read: one that has changed stays for the next merge. Merging the same hash again changes nothing.
 */
import {
  type DocumentReference,
  type DocumentSnapshot,
  FieldPath,
  type QueryDocumentSnapshot,
  type QuerySnapshot,
} from "firebase-admin/firestore";
import {
  ABORTED,
  type BucketCount,
  codeOf,
  groupOf,
  isPreconditionFailure,
  Sketch,
  type StoredSketch,
  sketchPath,
  VISITORS,
} from "../../../../core/src/index.ts";
import { commitUnlessChanged, writeIfUnchanged } from "../../../../firestore/src/index.ts";
import type { Backend } from "../../counter/backend.ts";
import { logError } from "../../counter/log.ts";
import { toMillis } from "../../counter/time.ts";
import { FIRST_ID, LAST_ID } from "../../shared/handleLost.ts";
import { type Merging, mergedUntil } from "../../shared/merge.ts";

/** More visitors per second than these need 256 buckets, fewer 16. Between them the number stays as it is. */
const MANY_PER_SECOND = 8;
const FEW_PER_SECOND = 2;

export const visitorMerging: Merging = {
  kind: "mergeVisitors",
  target: sketchPath,
  subcollection: VISITORS,
  merge,
};

/**
 * Cost: 2 writes, and 1 delete per bucket.
 *
 * @returns whether the commit succeeded; if not, another instance has merged, or the sketch was deleted
 */
async function merge(before: DocumentSnapshot, { docs, readTime }: QuerySnapshot): Promise<boolean> {
  if (docs.length === 0) return true;
  const counter = before.ref.parent.parent as DocumentReference;
  const sketch = parseSketch(before);
  const hashes = docs.flatMap(hashesIn);
  for (const hash of hashes) sketch.add(hash);
  // Never falls, though the estimate may where the sketch becomes registers.
  const uniques = Math.max(Math.round(sketch.estimate()), before.get("uniques") ?? 0);
  const perSecond = (1_000 * hashes.length) / (toMillis(readTime) - mergedUntil(before));
  const buckets = bucketsFor(before.get("buckets") === 256 ? 256 : 16, perSecond);
  const { format, bytes } = sketch.serialize();
  const batch = counter.firestore.batch();
  const stored = { format, bytes: Buffer.from(bytes), uniques, buckets, asOf: readTime };
  writeIfUnchanged(batch, before, stored);
  // The group, too: a counter without increments is never published.
  const published = {
    group: groupOf(counter.id),
    uniques,
    uniquesAsOf: readTime,
    uniqueFloor: sketch.floor(),
    uniqueBuckets: buckets,
  };
  batch.set(counter, published, { merge: true });
  if (!(await commitUnlessChanged(batch))) return false;
  await Promise.all(docs.map(remove));
  return true;
}

/** Replaces a damaged sketch with an empty one. An error would only be retried for a day. */
function parseSketch(stored: DocumentSnapshot): Sketch {
  try {
    return stored.exists ? Sketch.parse(stored.data() as StoredSketch) : new Sketch();
  } catch (error) {
    logError("replaced a damaged sketch of visitors with an empty one", {
      counter: stored.ref.parent.parent?.id,
      error,
    });
    return new Sketch();
  }
}

/** Deletes a bucket as it was read, unless a visitor has come since. The next merge or sweep deletes what is left. */
async function remove({ ref, updateTime }: QueryDocumentSnapshot): Promise<void> {
  await ref.delete({ lastUpdateTime: updateTime }).catch((error) => {
    if (!isPreconditionFailure(error) && codeOf(error) !== ABORTED) throw error;
  });
}

/** How many buckets of all counters a sweep deletes at most. */
const MAX_DELETED = 6_000;
const PAGE = 300;

/**
 * For the sweep of a deployment that counts no visitors: deletes what clients have left, because the rules may allow it. Cost: 1 read and
 * 1 delete per bucket, at least 1 read.
 */
export async function deleteVisitors({ counters }: Backend): Promise<void> {
  const path = FieldPath.documentId();
  const all = counters.firestore.collectionGroup(VISITORS).orderBy(path);
  const own = all.where(path, ">=", counters.doc(FIRST_ID)).where(path, "<=", counters.doc(LAST_ID));
  for (let deleted = 0; deleted < MAX_DELETED; deleted += PAGE) {
    const { docs } = await own.limit(PAGE).get();
    await Promise.all(docs.map(remove));
    if (docs.length < PAGE) break;
  }
}

/** The hashes in a bucket. A server may have written anything. */
function hashesIn(bucket: QueryDocumentSnapshot): string[] {
  const visitors: unknown = bucket.get("visitors");
  return Array.isArray(visitors) ? visitors.filter((hash) => typeof hash === "string") : [];
}

/** How many buckets visitors should be spread over, given how many have come per second since the last merge. */
function bucketsFor(known: BucketCount, perSecond: number): BucketCount {
  return perSecond > MANY_PER_SECOND ? 256 : perSecond < FEW_PER_SECOND ? 16 : known;
}

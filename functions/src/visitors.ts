/**
 * Visitors: merges the hashes that wait in `uniques` into the counter's sketch, and publishes the estimate.
 *
 * A merge reads the sketch, then the buckets. One commit writes the merged sketch and the estimate, on the precondition that
 * the sketch is as it was read, so no merge can undo another (I10). Then the buckets are deleted, each on the precondition
 * that it is as it was read: one that has changed stays for the next merge. Merging the same hash again changes nothing.
 */
import {
  type DocumentReference,
  type DocumentSnapshot,
  type QueryDocumentSnapshot,
  type QuerySnapshot,
  Timestamp,
} from "firebase-admin/firestore";
import { unchanged } from "../../admin/src/internal.ts";
import {
  ABORTED,
  type BucketCount,
  codeOf,
  isPreconditionFailure,
  Sketch,
  type StoredSketch,
  sketchPath,
  uniquesPath,
} from "../../core/src/index.ts";
import type { Backend } from "./backend.ts";
import type { AggregationTask } from "./cause.ts";
import { coalesce } from "./coalesce.ts";
import { logError } from "./log.ts";
import { type Millis, toMillis } from "./time.ts";

/** The event of one write to a bucket. */
export interface VisitorEvent {
  readonly counterId: string;
  readonly committedAt: Millis;
}

/** The least time between two merges of a counter. */
const MERGE_INTERVAL: Millis = 10_000;

/** More visitors per second than these need 256 buckets, fewer 16. Between them the number stays as it is. */
const MANY_PER_SECOND = 8;
const FEW_PER_SECOND = 2;

/** All visitors committed up to `asOf` are merged, and those up to `scheduled` will be. */
interface Merged {
  readonly asOf: Millis;
  readonly scheduled: Millis;
}

/** The event handler of one instance. It resolves when the visitor is merged or certain to be; else it rejects, for a retry. */
export function createVisitorHandler(backend: Backend): (event: VisitorEvent) => Promise<void> {
  return coalesce<VisitorEvent, Merged>({
    keyOf: ({ counterId }) => counterId,
    isCovered: ({ asOf, scheduled }, { committedAt }) => committedAt <= Math.max(asOf - backend.snapshotLag, scheduled),
    handle: ({ counterId, committedAt }) => mergeOrSchedule(backend, counterId, committedAt),
  });
}

/** Runs a task: waits until it is due by this clock, then merges all visitors up to then. */
export async function runMergeTask(backend: Backend, { counterId, due }: AggregationTask): Promise<void> {
  await backend.sleep(due + backend.snapshotLag - backend.now());
  await mergeOrSchedule(backend, counterId, due);
}

/** Cost: 1 read. If the last merge is recent, 1 task operation; else 1 read per bucket and the cost of {@link merge}. */
async function mergeOrSchedule(backend: Backend, counterId: string, at: Millis): Promise<Merged> {
  const { counters, snapshotLag, now, sleep, schedule } = backend;
  const counter = counters.doc(counterId);
  for (;;) {
    const before = await counter.firestore.doc(sketchPath(counter.path)).get();
    const asOf = millisOf(before);
    if (at <= asOf - snapshotLag) return { asOf, scheduled: 0 };
    const due = asOf + MERGE_INTERVAL;
    // A task merges even if this clock is behind: a new one would have its name, and be dropped as a duplicate.
    if (Math.max(now(), at) < due) {
      await schedule({ counterId, due, isPoll: false, ofVisitors: true });
      return { asOf, scheduled: due };
    }
    const buckets = await counter.firestore.collection(uniquesPath(counter.path)).get();
    const readAt = toMillis(buckets.readTime);
    const isIncluded = at <= readAt - snapshotLag;
    if (!isIncluded) await sleep(at + snapshotLag - readAt);
    else if (await merge(before, buckets)) return { asOf: readAt, scheduled: 0 };
  }
}

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
  const perSecond = (1_000 * hashes.length) / (toMillis(readTime) - millisOf(before));
  const buckets = bucketsFor(before.get("buckets") === 256 ? 256 : 16, perSecond);
  const { format, bytes } = sketch.serialize();
  const batch = counter.firestore.batch();
  const stored = { format, bytes: Buffer.from(bytes), uniques, buckets, asOf: readTime };
  if (before.exists) batch.update(before.ref, stored, unchanged(before));
  else batch.create(before.ref, stored);
  const published = { uniques, uniquesAsOf: readTime, uniqueFloor: sketch.floor(), uniqueBuckets: buckets };
  batch.set(counter, published, { merge: true });
  try {
    await batch.commit();
  } catch (error) {
    if (isPreconditionFailure(error)) return false;
    throw error;
  }
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

/** Deletes a merged bucket, unless a visitor has come since. The next merge deletes what is left. */
async function remove({ ref, updateTime }: QueryDocumentSnapshot): Promise<void> {
  await ref.delete({ lastUpdateTime: updateTime }).catch((error) => {
    if (!isPreconditionFailure(error) && codeOf(error) !== ABORTED) throw error;
  });
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

/** 0 if there is no sketch. */
function millisOf(sketch: DocumentSnapshot): Millis {
  const asOf = sketch.get("asOf");
  return asOf instanceof Timestamp ? toMillis(asOf) : 0;
}

/**
 * Moves what Google's counter has counted into counters. Its `_counter_shards_` are called legacy shards here;
 * testkit/legacy/README.md describes what it stores.
 *
 * Its clients add to legacy shards. Its functions move these sums into the same fields of the document, sometimes by way of a
 * partial shard. So at each instant a field is worth
 *
 *     sum of the counter's shards  +  (field − mirrored)  +  legacy shards, partial ones included
 *
 * where `mirrored`, in the counter document, is the part of the first term that this field shows, which `mirroredIn` names. No step changes this sum: a move
 * brings the other terms into the first, Google's functions move the third into the second, and a publish adds the same
 * amount to the field and to `mirrored`. So all of them may run side by side, and a move may be repeated at any time. The
 * first one moves the total that Google's counter left in the field.
 */

import {
  type DocumentSnapshot,
  FieldPath,
  FieldValue,
  type Firestore,
  type QueryDocumentSnapshot,
  type Timestamp,
  type WriteBatch,
} from "firebase-admin/firestore";
import {
  amountShown,
  BASE_SHARD,
  counterPath,
  differenceBeyondRounding,
  isPreconditionFailure,
  type MirrorSource,
  type MirrorTarget,
  mirrorName,
  SHARDS,
  sumOfCounts,
} from "../../core/src/index.ts";
import { latestSnapshot } from "./latestSnapshot.ts";
import { amountIn, isAmount, LEGACY_SHARDS, removeFields, unmappedNumbers } from "./legacyShards.ts";
import { unchanged, writeIfUnchanged } from "./precondition.ts";
import { backoff, retry } from "./retry.ts";

/** Legacy shards that one commit moves. They are held in memory, and each may be a megabyte. */
const PAGE = 20;

/** What was moved from one document. */
export interface Moved {
  /** What was added to each counter, in the order of the fields. */
  readonly amounts: readonly number[];
  /** Legacy shards that were deleted, or that lost the fields. */
  readonly shards: number;
  /** Paths of numbers in legacy shards that no field names. They stay. */
  readonly unmapped: ReadonlySet<string>;
  /** All writes of clients up to this instant were moved, by this call or another. */
  readonly asOf: Timestamp;
}

/** A field of a document. */
type Field = Pick<MirrorTarget, "document" | "field">;

/** The part of the sum of a counter's shards that a field shows. */
export function mirroredOf(counter: DocumentSnapshot, field: Field): number {
  return amountShown(counter.get("mirrored"), counter.get("mirroredIn"), field);
}

/** The fields by which a move or a rollback sets `mirrored`. */
export function mirroredFields(mirrored: number, field: Field) {
  return { mirrored, mirroredIn: mirrorName(field) };
}

/**
 * Moves into the counters what Google's counter and its clients have added to fields of one document. The fields show it
 * at once.
 *
 * Batches with preconditions on all documents that they change, so no old client waits for a lock. If one of them has changed
 * meanwhile, the batch fails as a whole and is made again.
 *
 * Cost: 1 read per shard, at least 1; for up to 20 shards 1 read of the document and 1 per counter. If there is something to
 * move, 1 write of the counter document, 1 of `base` and 1 of the document, and 1 delete per shard.
 *
 * @param collection  the collection of the counters
 * @param document    the path of the document
 */
export async function moveLegacyIncrements(
  firestore: Firestore,
  collection: string,
  document: string,
  fields: readonly MirrorSource[],
): Promise<Moved> {
  const amounts = fields.map(() => 0);
  const unmapped = new Set<string>();
  let shards = 0;
  let asOf: Timestamp | undefined;
  for (let after: QueryDocumentSnapshot | undefined; ; ) {
    const page = await retry(() => movePage(firestore, collection, document, fields, after));
    asOf ??= page.readTime;
    page.amounts.forEach((amount, index) => {
      amounts[index] = (amounts[index] ?? 0) + amount;
    });
    shards += page.emptied;
    for (const path of page.unmapped) unmapped.add(path);
    after = page.last;
    if (!after) return { amounts, shards, unmapped, asOf };
  }
}

async function movePage(
  firestore: Firestore,
  collection: string,
  path: string,
  fields: readonly MirrorSource[],
  after: QueryDocumentSnapshot | undefined,
) {
  const document = firestore.doc(path);
  const counterRefs = fields.map(({ counterId }) => firestore.doc(counterPath(collection, counterId)));
  const pages = document.collection(LEGACY_SHARDS).orderBy(FieldPath.documentId()).limit(PAGE);
  for (let tries = 0; ; tries++) {
    // The shards first: one that the extension moves into the field after this makes the commit fail.
    const { docs, readTime } = await (after ? pages.startAfter(after) : pages).get();
    const unmapped = docs.flatMap((shard) => unmappedNumbers(shard, fields));
    const last = docs.length === PAGE ? docs.at(-1) : undefined;
    const shards = docs.filter((shard) => fields.some(({ field }) => amountIn(shard, field) !== undefined));
    const nothing = { amounts: fields.map(() => 0), emptied: 0, unmapped, last, readTime };
    // The first page has compared the field with its counter.
    if (after && shards.length === 0) return nothing;
    // At one instant, since the difference of the two is what others have added to the field.
    const [shown, ...counters] = await firestore.runTransaction(
      (transaction) => transaction.getAll(document, ...counterRefs),
      await latestSnapshot(),
    );
    const batch = firestore.batch();
    const moves = fields.map(({ field }, index) => {
      const stored: unknown = shown?.get(new FieldPath(...field));
      return moveIntoCounter(batch, counters[index] as DocumentSnapshot, stored, shards, { document: path, field });
    });
    if (shards.length === 0 && moves.every((move) => move === undefined)) return nothing;
    const values = fields.map(({ field }, index) => [new FieldPath(...field), moves[index]?.value] as const);
    writeFields(batch, shown as DocumentSnapshot, values);
    for (const shard of shards) removeFields(batch, shard, fields);
    try {
      await batch.commit();
      return { ...nothing, amounts: moves.map((move) => move?.amount ?? 0), emptied: shards.length };
    } catch (error) {
      if (!isPreconditionFailure(error)) throw error;
      await backoff(tries);
    }
  }
}

/** What is moved into one counter. */
interface Move {
  readonly amount: number;
  /** The new value of the field, if shards were pending. */
  readonly value?: unknown;
}

/**
 * Adds to one counter what its field and the shards hold beyond `mirrored`. A field that is gone, or is no amount, begins
 * again with what the shards hold; the next publish adds the rest of the total.
 *
 * @returns `undefined` if there is nothing to move
 */
function moveIntoCounter(
  batch: WriteBatch,
  counter: DocumentSnapshot,
  stored: unknown,
  shards: readonly QueryDocumentSnapshot[],
  target: Field,
): Move | undefined {
  const { field } = target;
  const inField = isAmount(stored) ? stored : 0;
  const mirrored = isAmount(stored) ? mirroredOf(counter, target) : 0;
  const added = differenceBeyondRounding(inField, mirrored, Math.abs(inField) + Math.abs(mirrored));
  const pending = sumOfCounts(shards.map((shard) => amountIn(shard, field) ?? 0));
  const isPending = shards.some((shard) => amountIn(shard, field) !== undefined);
  if (added === 0 && !isPending && mirrored === mirroredOf(counter, target)) return undefined;
  const amount = added + pending;
  // What Google's functions have added to the field may be years old, so it is in no window.
  const state = {
    ...mirroredFields(mirrored + amount, target),
    ...(added !== 0 && { adjusted: FieldValue.increment(added) }),
  };
  writeIfUnchanged(batch, counter, state);
  if (amount !== 0) {
    const writes = FieldValue.increment(Math.max(shards.length, 1));
    const base = { shard: BASE_SHARD, count: FieldValue.increment(amount), writes, at: FieldValue.serverTimestamp() };
    batch.set(counter.ref.collection(SHARDS).doc(BASE_SHARD), base, { merge: true });
  }
  if (pending === 0) return { amount };
  // NaN and infinities would stay what they are.
  return { amount, value: typeof stored === "number" && !isAmount(stored) ? pending : FieldValue.increment(pending) };
}

/**
 * Writes the new values of fields in one write, on the precondition that the document is as it was read. Also if all fields keep their
 * values: what Google's functions have added since would be left over, because another move may have found nothing to do. With the
 * preconditions on the counter and the shards, no move fits beside another or beside a rollback: each changes one of the three.
 *
 * @param values  paths of fields, and new values; `undefined` for one that stays
 */
function writeFields(
  batch: WriteBatch,
  shown: DocumentSnapshot,
  values: readonly (readonly [FieldPath, unknown])[],
): void {
  const [[path, value], ...others] = values as [(typeof values)[0], ...typeof values];
  const more = others.filter(([, value]) => value !== undefined);
  if (!shown.exists) {
    if (value === undefined && more.length === 0) return;
    batch.create(shown.ref, {});
  }
  batch.update(shown.ref, path, value ?? asBefore(shown, path), ...more.flat(), unchanged(shown));
}

/** Leaves a field as it is. Written back, an integer beyond 2^53 would change. */
function asBefore(document: DocumentSnapshot, field: FieldPath): unknown {
  const value: unknown = document.get(field);
  if (value === undefined) return FieldValue.delete();
  return typeof value === "number" ? FieldValue.increment(0) : value;
}

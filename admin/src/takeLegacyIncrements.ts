/**
 * Moves what Google's counter extension (`firebase/extensions`, folder `firestore-counter`) has counted into counters.
 *
 * Its clients add to fields of `{document}/_counter_shards_/{random id}`; its functions move these sums into the same fields of
 * the document, sometimes by way of a partial shard, whose id starts with a tab. So at each instant a field is worth
 *
 *     counter  +  (field − mirrored)  +  shards and partial shards
 *
 * where `mirrored`, in the counter document, is the part of the counter's total that the field shows. A take moves the two
 * terms on the right into the counter, and keeps the sum. So does everything that the extension does: both may run side by side,
 * a take may be repeated at any time, and a first take of a document imports its total.
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
  BASE_SHARD,
  counterPath,
  isPreconditionFailure,
  type MirroredField,
  SHARDS,
  sumOfCounts,
} from "../../core/src/index.ts";
import { driftOf } from "./drift.ts";
import { latestSnapshot } from "./latestSnapshot.ts";
import { amountIn, isFiniteNumber, LEGACY_SHARDS, removeFields, unmappedNumbers } from "./legacyShards.ts";
import { backoff, retry } from "./retry.ts";

/** Shards of one document that one commit takes. They are held in memory, and each may be a megabyte. */
const PAGE = 20;

/** What a take has moved. */
export interface Taken {
  /** What was added to each counter, in the order of the fields. */
  readonly amounts: readonly number[];
  /** Documents of `_counter_shards_` that it has deleted, or relieved of the fields. */
  readonly shards: number;
  /** Paths of numbers in those documents that no field names. They stay. */
  readonly unmapped: ReadonlySet<string>;
  /** All writes of clients up to this instant were moved, by this take or another. */
  readonly asOf: Timestamp;
}

/** The part of a counter's total that its mirror shows. */
export function mirroredOf(counter: DocumentSnapshot): number {
  const mirrored = counter.get("mirrored");
  return Number.isFinite(mirrored) ? mirrored : 0;
}

/**
 * Moves into the counters what Google's extension and its clients have added to fields of one document. The fields show it
 * at once.
 *
 * A batch with preconditions, so no old client waits for a lock. If one of the shards or a counter has changed meanwhile, the
 * batch fails as a whole and is made again.
 *
 * Cost: 1 read of the document, 1 per counter and 1 per shard, at least 1; if there is something to move, 1 write of the
 * document, 2 per counter and 1 delete per shard.
 *
 * @param collection  the collection of the counters
 * @param document    the path of the document
 */
export async function takeLegacyIncrements(
  firestore: Firestore,
  collection: string,
  document: string,
  fields: readonly MirroredField[],
): Promise<Taken> {
  const amounts = fields.map(() => 0);
  const unmapped = new Set<string>();
  let shards = 0;
  let asOf: Timestamp | undefined;
  for (let after: QueryDocumentSnapshot | undefined; ; ) {
    const page = await retry(() => takePage(firestore, collection, document, fields, after));
    asOf ??= page.readTime;
    page.amounts.forEach((amount, index) => {
      amounts[index] = (amounts[index] ?? 0) + amount;
    });
    shards += page.taken;
    for (const path of page.unmapped) unmapped.add(path);
    after = page.last;
    if (!after) return { amounts, shards, unmapped, asOf };
  }
}

async function takePage(
  firestore: Firestore,
  collection: string,
  path: string,
  fields: readonly MirroredField[],
  after: QueryDocumentSnapshot | undefined,
) {
  const document = firestore.doc(path);
  const counterRefs = fields.map(({ counterId }) => firestore.doc(counterPath(collection, counterId)));
  const pages = document.collection(LEGACY_SHARDS).orderBy(FieldPath.documentId()).limit(PAGE);
  for (let tries = 0; ; tries++) {
    // The shards first: one that the extension moves into the field after this makes the commit fail.
    const { docs, readTime } = await (after ? pages.startAfter(after) : pages).get();
    // At one instant, since the difference of the two is what others have added to the field.
    const [shown, ...counters] = await firestore.runTransaction(
      (transaction) => transaction.getAll(document, ...counterRefs),
      await latestSnapshot(),
    );
    const batch = firestore.batch();
    const shards = docs.filter((shard) => fields.some(({ field }) => amountIn(shard, field) !== undefined));
    const amounts = fields.map(({ field }, index) =>
      takeField(batch, counters[index] as DocumentSnapshot, shown as DocumentSnapshot, field, shards),
    );
    for (const shard of shards) removeFields(batch, shard, fields);
    const unmapped = docs.flatMap((shard) => unmappedNumbers(shard, fields));
    const last = docs.length === PAGE ? docs.at(-1) : undefined;
    if (shards.length === 0 && amounts.every((amount) => amount === undefined)) {
      return { amounts: amounts.map(() => 0), taken: 0, unmapped, last, readTime };
    }
    try {
      await batch.commit();
      return { amounts: amounts.map((amount) => amount ?? 0), taken: shards.length, unmapped, last, readTime };
    } catch (error) {
      if (!isPreconditionFailure(error)) throw error;
      await backoff(tries, error);
    }
  }
}

/**
 * Adds to one counter what its field and the shards hold beyond `mirrored`, and to the field what the shards hold. A field
 * that is gone, or is no number, is written anew by the next publish.
 *
 * @returns `undefined` if there is nothing to move
 */
function takeField(
  batch: WriteBatch,
  counter: DocumentSnapshot,
  shown: DocumentSnapshot,
  field: readonly string[],
  shards: readonly QueryDocumentSnapshot[],
): number | undefined {
  const stored: unknown = shown.get(new FieldPath(...field));
  const inField = isFiniteNumber(stored) ? stored : 0;
  const mirrored = isFiniteNumber(stored) ? mirroredOf(counter) : 0;
  const added = driftOf(inField, mirrored, Math.abs(inField) + Math.abs(mirrored));
  const pending = sumOfCounts(shards.map((shard) => amountIn(shard, field) ?? 0));
  const isPending = shards.some((shard) => amountIn(shard, field) !== undefined);
  if (added === 0 && !isPending && mirrored === mirroredOf(counter)) return undefined;
  const amount = added + pending;
  const state = { mirrored: mirrored + amount };
  if (counter.updateTime) batch.update(counter.ref, state, { lastUpdateTime: counter.updateTime });
  else batch.create(counter.ref, state);
  if (amount !== 0) {
    const writes = FieldValue.increment(Math.max(shards.length, 1));
    const base = { shard: BASE_SHARD, count: FieldValue.increment(amount), writes, at: FieldValue.serverTimestamp() };
    batch.set(counter.ref.collection(SHARDS).doc(BASE_SHARD), base, { merge: true });
  }
  if (pending !== 0) {
    const update = field.reduceRight<unknown>((value, name) => ({ [name]: value }), FieldValue.increment(pending));
    batch.set(shown.ref, update as Record<string, unknown>, { merge: true });
  }
  return amount;
}

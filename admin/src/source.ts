/** The source of truth of a counter, and the query that measures it. */
import { isDeepStrictEqual } from "node:util";
import {
  AggregateField,
  type AggregateQuery,
  type DocumentReference,
  FieldValue,
  type Query,
  Timestamp,
} from "firebase-admin/firestore";
import {
  type CounterSource,
  codeOf,
  entriesPath,
  NOT_FOUND,
  validSchedule,
  validSource,
} from "../../core/src/index.ts";
import { type CallOptions, retry, sumField, throwIfAborted, withSignal } from "../../firestore/src/index.ts";
import { refuseCountedCollection } from "./countedCollection.ts";
import { type CounterRef, counterDoc } from "./counter.ts";

/** Options of {@link setCounterSource}. */
export interface CounterSourceOptions extends CallOptions {
  /** Milliseconds between scheduled reconciles, at least five minutes. Default: none is scheduled. */
  every?: number | undefined;
  /** A scheduled reconcile raises an alarm if the absolute drift is larger than this. Default 0. */
  alarmBeyond?: number | undefined;
}

/**
 * Sets the source of truth of a counter: the documents that it should count, or whose field it should sum, or its own
 * entries. {@link reconcileCounter} compares the counter with it. With `every` the functions' sweep does so, too, first after
 * that time. The call counts nothing itself. It is idempotent: a due time stays. `null` removes the source.
 *
 * The source is stored in the counter document, so every client that may read the counter may read it.
 *
 * Cost: 1 read, and 1 write if anything changes.
 *
 * @param source - `{ collection }` or `{ collectionGroup }`, either with `where` and `sum`, or `{ entries: true }`
 * @throws CounterError `counter/invalid-source`; `counter/counted-collection`
 *
 * @example
 * ```ts
 * await setCounterSource(counter(db, "posts:public"), {
 *   collection: "posts",
 *   where: [{ field: "state", op: "==", value: "public" }],
 * }, { every: 24 * 3_600_000 });
 * ```
 */
export async function setCounterSource(
  ref: CounterRef,
  source: CounterSource | null,
  options: CounterSourceOptions = {},
): Promise<void> {
  const { every, alarmBeyond = 0 } = options;
  const document = counterDoc(ref);
  if (source === null) return await withSignal(options, () => removeSource(document));
  const schedule = validSchedule(every && every / 1_000, alarmBeyond);
  const stored = { ...validSource(source), ...schedule };
  await withSignal(options, () => store(document, stored, every));
}

async function removeSource(document: DocumentReference): Promise<void> {
  const nothing = { source: FieldValue.delete(), nextReconcileAt: FieldValue.delete() };
  await retry(() => document.update(nothing)).catch((error) => {
    if (codeOf(error) !== NOT_FOUND) throw error;
  });
}

/** @param every  milliseconds between scheduled reconciles */
async function store(document: DocumentReference, stored: object, every: number | undefined): Promise<void> {
  await retry(async () => {
    const known = await document.get();
    refuseCountedCollection(known);
    const due = every === undefined ? undefined : firstDue(known.get("nextReconcileAt"), every);
    // Servers may call this whenever they start, and each write costs every watcher a read.
    if (isDeepStrictEqual([known.get("source"), known.get("nextReconcileAt")], [stored, due])) return;
    // A plain merge would mix the old source with the new one.
    const nextReconcileAt = due ?? FieldValue.delete();
    throwIfAborted();
    await document.set({ source: stored, nextReconcileAt }, { mergeFields: ["source", "nextReconcileAt"] });
  });
}

/** After `every` milliseconds, or at the known due time if that is earlier. */
function firstDue(known: unknown, every: number): Timestamp {
  const next = Timestamp.fromMillis(Math.floor(Date.now() + every));
  return known instanceof Timestamp && known < next ? known : next;
}

/** The query whose aggregation `expected` is the total of the source. Cost: 1 read per 1,000 documents, at least 1. */
export function sourceAggregation(
  ref: CounterRef,
  source: CounterSource,
): AggregateQuery<{ expected: AggregateField<number | null> }> {
  const { firestore, path } = ref;
  if ("entries" in source) return amount(firestore.collection(entriesPath(path)), "by");
  const all: Query =
    "collection" in source
      ? firestore.collection(source.collection)
      : firestore.collectionGroup(source.collectionGroup);
  const some = (source.where ?? []).reduce((query, { field, op, value }) => query.where(field, op, value), all);
  return amount(some, source.sum);
}

function amount(query: Query, sum: string | undefined) {
  return query.aggregate({ expected: sum === undefined ? AggregateField.count() : sumField(sum) });
}

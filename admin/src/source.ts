/** Names the source of truth of a counter, and says what to ask Firestore to know what it amounts to. */
import { isDeepStrictEqual } from "node:util";
import { AggregateField, type AggregateQuery, FieldValue, type Query, Timestamp } from "firebase-admin/firestore";
import { codeOf, entriesPath, NOT_FOUND, type Source, validSchedule, validSource } from "../../core/src/index.ts";
import { type CounterRef, counterDoc } from "./counter.ts";
import { retry } from "./retry.ts";

/** When a counter is reconciled by itself, and when that alarms. */
export interface SourceOptions {
  /** Milliseconds from one scheduled reconcile to the next, at least five minutes. Without it there is none. */
  every?: number | undefined;
  /** A scheduled reconcile that finds a drift beyond this, up or down, raises an alarm. Default 0. */
  alarmBeyond?: number | undefined;
}

/**
 * Names the source of truth of a counter: the documents it should count, or whose field it should sum, or its own
 * entries. {@link reconcileCounter} holds the counter against it, and with `every` so does the functions' sweep, for the
 * first time after that long. Nothing is counted yet. May be repeated: what is due stays due. `undefined` takes the
 * source away.
 *
 * The source is kept in the counter document, so whoever may read the counter may read it.
 *
 * Cost: 1 read, and 1 write if that changes anything.
 *
 * @param source - `{ collection }` or `{ collectionGroup }`, either with `where` and `sum`, or `{ entries: true }`
 * @throws CounterError `counter/invalid-source`
 *
 * @example
 * ```ts
 * await setSource(counter(db, "posts:public"), {
 *   collection: "posts",
 *   where: [{ field: "state", op: "==", value: "public" }],
 * }, { every: 24 * 3_600_000 });
 * ```
 */
export async function setSource(
  ref: CounterRef,
  source: Source | undefined,
  options: SourceOptions = {},
): Promise<void> {
  const { every, alarmBeyond = 0 } = options;
  const document = counterDoc(ref);
  if (source === undefined) {
    const nothing = { source: FieldValue.delete(), nextReconcileAt: FieldValue.delete() };
    await retry(() => document.update(nothing)).catch((error) => {
      if (codeOf(error) !== NOT_FOUND) throw error;
    });
    return;
  }
  const schedule = validSchedule(every && every / 1_000, alarmBeyond);
  const stored = { ...validSource(source), ...schedule };
  await retry(async () => {
    const known = await document.get();
    const due = every === undefined ? undefined : firstDue(known.get("nextReconcileAt"), every);
    // Servers may call this whenever they start. Whoever watches the counter is charged for each write of it.
    if (isDeepStrictEqual([known.get("source"), known.get("nextReconcileAt")], [stored, due])) return;
    // Not a plain merge, which would mix an old source with the new.
    const nextReconcileAt = due ?? FieldValue.delete();
    await document.set({ source: stored, nextReconcileAt }, { mergeFields: ["source", "nextReconcileAt"] });
  });
}

/** In so many milliseconds; or earlier, if a reconcile is due earlier. */
function firstDue(known: unknown, every: number): Timestamp {
  const next = Timestamp.fromMillis(Math.floor(Date.now() + every));
  return known instanceof Timestamp && known < next ? known : next;
}

/** What the source amounts to, as the aggregation `expected`. Cost: 1 read per 1,000 documents counted, at least 1. */
export function sourceAggregation(
  ref: CounterRef,
  source: Source,
): AggregateQuery<{ expected: AggregateField<number> }> {
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
  return query.aggregate({ expected: sum === undefined ? AggregateField.count() : AggregateField.sum(sum) });
}

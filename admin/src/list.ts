/** Queries over a group: its counters, the top of them, and the rank of one. */
import type { DocumentSnapshot, Firestore, Query } from "firebase-admin/firestore";
import {
  type CounterRankOptions,
  DEFAULT_COLLECTION,
  givenName,
  groupOf,
  rankingFields,
  type TopCountersOptions,
  validGroup,
  withCurrentWindow,
} from "../../core/src/index.ts";
import { withReadTimeout } from "../../firestore/src/index.ts";
import { type CounterRef, counterDoc, firestoreOf } from "./counter.ts";
import { type CounterSnapshot, snapshotOf } from "./read.ts";

/** One of several counters: its id and its last published total. */
export interface ListedCounter extends CounterSnapshot {
  /** The id of the counter document. */
  readonly id: string;
}

/** Options of {@link listCounters}. */
export interface ListCountersOptions {
  /** How many counters at most. Default 100. */
  limit?: number | undefined;
  /** Starts after the counter with this id: the last one of the page before. */
  after?: string | undefined;
  /** The collection that holds the counters. Default `"counters"`. */
  collection?: string;
}

/**
 * The counters of a group, by id, a page at a time. Cost: 1 read per counter returned. On Firestore's Enterprise edition, a page may scan
 * all counters, 90 read units per 1,000, unless there is an index of `group` and `__name__`.
 *
 * @param group - the part of their ids before the first colon; `""` for ids without a colon
 * @throws CounterError `counter/invalid-option` for a group that is no string, or has a colon; `counter/invalid-reference` for a database
 *         of another SDK
 *
 * @example
 * ```ts
 * const first = await listCounters(db, "views");
 * const second = await listCounters(db, "views", { after: first.at(-1)?.id });
 * ```
 */
export async function listCounters(
  firestore: Firestore,
  group: string,
  options: ListCountersOptions = {},
): Promise<ListedCounter[]> {
  const { limit = 100, after } = options;
  const all = groupIn(firestore, collectionOf(options), group).orderBy("__name__").limit(limit);
  const { docs } = await withReadTimeout((after === undefined ? all : all.startAfter(after)).get());
  return docs.map(listed);
}

/**
 * The counters of a group with the largest totals or rates, or that have counted most today, this week or this month, the
 * largest first. Cost: 1 read per counter that the query returns, at most `limit`. Counters whose window is over come last in
 * the query; they are read, and left out. Only groups of the functions' parameter `WINDOWS` have windows. On
 * Firestore's Enterprise edition, a call scans all counters, 90 read units per 1,000, unless there is an index: `group` ascending, then
 * `total` and `__name__` descending.
 *
 * @param group - the part of their ids before the first colon: `"likes"` for `likes:post42`
 * @throws CounterError `counter/invalid-option`, `counter/invalid-reference`, as for {@link listCounters}
 *
 * @example
 * ```ts
 * const trending = await getTopCounters(db, "views", { orderBy: "rate", limit: 5 });
 * const today = await getTopCounters(db, "views", { window: "day" });
 * ```
 */
export async function getTopCounters(
  firestore: Firestore,
  group: string,
  options: TopCountersOptions = {},
): Promise<ListedCounter[]> {
  const { limit = 10 } = options;
  const all = groupIn(firestore, collectionOf(options), group);
  const ordered = [...rankingFields(options), "__name__"].reduce((query, field) => query.orderBy(field, "desc"), all);
  const { docs, readTime } = await withReadTimeout(ordered.limit(limit).get());
  return withCurrentWindow(docs, options, readTime.toMillis()).map(listed);
}

/**
 * The rank of a counter in its group: 1 for the largest, the same for equals; `undefined` for one without a
 * total, that has not counted in the window, or beyond `limit`. Cost: 2 reads, and 1 more per 1,000 counters before it.
 * On Firestore's Enterprise edition as for {@link getTopCounters}.
 *
 * @example
 * ```ts
 * const place = await getCounterRank(counter(db, "score:ada"));
 * const placeToday = await getCounterRank(counter(db, "score:ada"), { window: "day" });
 * ```
 */
export async function getCounterRank(ref: CounterRef, options: CounterRankOptions = {}): Promise<number | undefined> {
  return await withReadTimeout(rankOf(ref, options));
}

async function rankOf(ref: CounterRef, options: CounterRankOptions): Promise<number | undefined> {
  const document = await counterDoc(ref).get();
  const fields = rankingFields(options);
  const ranked = fields.at(-1) as string;
  if (
    withCurrentWindow([document], options, document.readTime.toMillis()).length === 0 ||
    document.get(ranked) === undefined
  )
    return undefined;
  const group = document.ref.parent.where("group", "==", groupOf(ref.id));
  const above = fields.reduce<Query>(
    (query, field) => query.where(field, field === ranked ? ">" : "==", document.get(field)),
    group,
  );
  const { limit = Number.POSITIVE_INFINITY } = options;
  const rank = (await above.orderBy(ranked, "desc").count().get()).data().count + 1;
  return rank <= limit ? rank : undefined;
}

function collectionOf(options: { collection?: string }): string {
  return givenName(options, "collection") ?? DEFAULT_COLLECTION;
}

function groupIn(firestore: Firestore, collection: string, group: unknown): Query {
  return firestoreOf({ firestore }).collection(collection).where("group", "==", validGroup(group));
}

function listed(counter: DocumentSnapshot): ListedCounter {
  return { id: counter.id, ...snapshotOf(counter) };
}

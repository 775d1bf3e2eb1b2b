/** Leaderboards: the top counters of a group, and the rank of a counter. */
import {
  type Firestore,
  getCountFromServer,
  getDoc,
  getDocs,
  getDocsFromServer,
  limit,
  orderBy,
  query,
  where,
} from "firebase/firestore";
import {
  type CounterRankOptions,
  groupOf,
  rankingFields,
  type TopCountersOptions,
  toSnapshot,
  validGroup,
  withCurrentWindow,
} from "../../../core/src/index.ts";
import { type CounterRef, counter, counterDoc } from "./counter.ts";
import type { CounterSnapshot } from "./read.ts";
import { timeFor } from "./timeFor.ts";

/** One of several counters: its id and its last published total. */
export interface ListedCounter extends CounterSnapshot {
  /** The id of the counter document. */
  readonly id: string;
}

/**
 * Reads the counters of a group with the largest totals or rates, or that have counted most today, this week or this month,
 * the largest first. Cost: 1 read per counter that the query returns, at most `limit`. Counters whose window is over come last
 * in the query; they are read, and left out. Only groups of the functions' parameter `WINDOWS` have windows. Offline, it lists what is cached, with `fromCache`.
 * On Firestore's Enterprise edition, a call scans all counters, 90 read units per 1,000, unless there is an index: `group` ascending, then
 * `total` and `__name__` descending.
 *
 * @param group - the part of their ids before the first colon: `"likes"` for `likes:post42`
 * @throws CounterError `counter/invalid-option` for a group that is no string, or has a colon
 * @throws FirestoreError `unavailable` when offline and nothing is cached
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
  const { limit: most = 10 } = options;
  // Of any counter, because `counter` checks the database and the collection.
  const any = counter(firestore, "any", options);
  const largestFirst = rankingFields(options).map((field) => orderBy(field, "desc"));
  const top = query(counterDoc(any).parent, where("group", "==", validGroup(group)), ...largestFirst, limit(most));
  let { docs, metadata } = await getDocs(top);
  // An empty cache tells nothing.
  if (metadata.fromCache && docs.length === 0) ({ docs, metadata } = await getDocsFromServer(top));
  const now = await timeFor(any, docs);
  const listed = withCurrentWindow(docs, options, now);
  return listed.map((counter) => ({ id: counter.id, ...toSnapshot(counter, metadata.fromCache, now) }));
}

/**
 * Reads the rank of a counter in its group: 1 for the largest, the same for equal counters. `undefined` without a
 * total, if it has not counted in the window, or beyond `limit`. Cost: 2 reads, and 1 more per 1,000 counters with a better rank.
 * On Firestore's Enterprise edition as for {@link getTopCounters}.
 *
 * @throws FirestoreError `unavailable` when offline
 *
 * @example
 * ```ts
 * const place = await getCounterRank(counter(db, "score:ada"));
 * const placeToday = await getCounterRank(counter(db, "score:ada"), { window: "day" });
 * ```
 */
export async function getCounterRank(ref: CounterRef, options: CounterRankOptions = {}): Promise<number | undefined> {
  const { limit: most = 100 } = options;
  const document = await getDoc(counterDoc(ref));
  const fields = rankingFields(options);
  const ranked = fields.at(-1) as string;
  const now = await timeFor(ref, [document]);
  if (withCurrentWindow([document], options, now).length === 0 || document.get(ranked) === undefined) return undefined;
  const above = query(
    document.ref.parent,
    where("group", "==", groupOf(ref.id)),
    ...fields.map((field) => where(field, field === ranked ? ">" : "==", document.get(field))),
    orderBy(ranked, "desc"),
  );
  const { count } = (await getCountFromServer(query(above, limit(most)))).data();
  return count < most ? count + 1 : undefined;
}

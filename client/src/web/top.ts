/** Leaderboards: the top counters of a group, and the rank of a counter. */
import {
  collection,
  type Firestore,
  getCountFromServer,
  getDoc,
  getDocs,
  limit,
  orderBy,
  query,
  where,
} from "firebase/firestore";
import { DEFAULT_COLLECTION, groupOf, type RankOptions, type TopOptions, toSnapshot } from "../../../core/src/index.ts";
import { type CounterRef, counterDoc } from "./counter.ts";
import type { CounterSnapshot } from "./read.ts";

/** One of several counters: its id and its last published total. */
export interface ListedCounter extends CounterSnapshot {
  /** The id of the counter document. */
  readonly id: string;
}

/**
 * Reads the counters of a group with the largest totals or rates, the largest first. Cost: 1 read per counter returned.
 *
 * @param group - the part of their ids before the first colon: `"likes"` for `likes:post42`
 *
 * @example
 * ```ts
 * const trending = await topCounters(db, "views", { by: "rate", limit: 5 });
 * ```
 */
export async function topCounters(
  firestore: Firestore,
  group: string,
  options: TopOptions = {},
): Promise<ListedCounter[]> {
  const { by = "total", limit: most = 10, collection: path = DEFAULT_COLLECTION } = options;
  const top = query(collection(firestore, path), where("group", "==", group), orderBy(by, "desc"), limit(most));
  const { docs, metadata } = await getDocs(top);
  return docs.map((counter) => ({ id: counter.id, ...toSnapshot(counter, metadata.fromCache) }));
}

/**
 * Reads the rank of a counter in its group: 1 for the largest, the same for equal counters, `undefined` without a published
 * total. Cost: 2 reads, and 1 more per 1,000 counters with a better rank.
 *
 * @throws FirestoreError `unavailable` when offline
 *
 * @example
 * ```ts
 * const place = await counterRank(counter(db, "score:ada"));
 * ```
 */
export async function counterRank(ref: CounterRef, options: RankOptions = {}): Promise<number | undefined> {
  const { by = "total" } = options;
  const counter = counterDoc(ref);
  const value = (await getDoc(counter)).get(by);
  if (value === undefined) return undefined;
  const above = query(
    counter.parent,
    where("group", "==", groupOf(ref.id)),
    where(by, ">", value),
    orderBy(by, "desc"),
  );
  return (await getCountFromServer(above)).data().count + 1;
}

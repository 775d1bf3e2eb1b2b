/** Watches one page of the list of counters while the tab is visible, and counts the reads. */
import {
  collection,
  type DocumentSnapshot,
  doc,
  type Firestore,
  getDoc,
  limit,
  onSnapshot,
  type Query,
  type QuerySnapshot,
  query,
  startAfter,
} from "firebase/firestore";
import { useEffect, useState } from "preact/hooks";
import { isDocumentId, withCurrentWindow } from "../../../core/src/index.ts";
import { type Published, parsePublished } from "../counter/published.ts";
import { pointOf } from "../counter/rate.ts";
import type { Connection } from "../firebase/connection.ts";
import { windowOf } from "../page/route.ts";
import { serverTime } from "../page/serverTime.ts";
import { constraintsOf, type Listing } from "./listing.ts";
import { type RecentRates, recordRate } from "./sparkline.ts";

const PAGE_SIZE = 20;

const NOTHING = {
  counters: undefined,
  end: undefined,
  fromCache: false,
  isCurrent: false,
  hasNoStart: false,
  error: undefined,
};

/** Busy counters are published one by one; more than a few redraws a second help no reader. */
const REDRAW_MS = 250;

export interface Listed {
  /** `undefined` until they arrive. */
  readonly counters: readonly Published[] | undefined;
  /** The id of the last counter of the page; `undefined` if there is no next page. */
  readonly end: string | undefined;
  /** Documents read since the dashboard was opened. */
  readonly reads: number;
  readonly recentRates: RecentRates;
  /** Whether Firestore does not answer, so that these are from the cache. */
  readonly fromCache: boolean;
  /** Whether the server has answered since the tab became visible, and still does. */
  readonly isCurrent: boolean;
  /** Whether the counter after which the page begins does not exist, or has no place in this order. */
  readonly hasNoStart: boolean;
  readonly error: Error | undefined;
}

/**
 * Cost: 1 read per counter listed and 1 more, and 1 for each new total; of a page that is not the first, 1 more.
 *
 * @param after  the counter after which the page begins; `""` for the first page
 */
export function useListing({ db }: Connection, listing: Listing, after: string, visible: boolean): Listed {
  const [recentRates] = useState<RecentRates>(() => new Map());
  const [listed, setListed] = useState<Omit<Listed, "recentRates">>({
    ...NOTHING,
    reads: 0,
  });
  useEffect(() => {
    if (!visible) return;
    const showNone = (hasNoStart: boolean) =>
      setListed((before) => ({ ...before, ...NOTHING, hasNoStart, counters: [] }));
    // No id has this prefix, and Firestore would reject the query.
    if (listing.prefix !== undefined && !isDocumentId(listing.prefix)) return showNone(false);
    let reads = 0;
    let isFirst = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let state: Omit<Listed, "reads" | "recentRates" | "error"> | undefined;
    const show = () => {
      timer = undefined;
      const more = reads;
      reads = 0;
      setListed((before) => ({ ...before, ...state, reads: before.reads + more, error: undefined }));
    };
    const take = ({ docs, metadata: { fromCache } }: QuerySnapshot) => {
      const listed = withCurrentWindow(docs, { window: windowOf(listing.order) }, serverTime());
      const published = listed.slice(0, PAGE_SIZE).flatMap((document) => parsePublished(document) ?? []);
      for (const one of published) recordRate(recentRates, one.id, pointOf(one));
      state = {
        // An empty cache does not mean that there are no counters.
        counters: fromCache && published.length === 0 ? undefined : published,
        end: listed.length > PAGE_SIZE ? listed[PAGE_SIZE - 1]?.id : undefined,
        fromCache,
        isCurrent: !fromCache,
        hasNoStart: false,
      };
      timer ??= setTimeout(show, REDRAW_MS);
    };
    const fail = (error: Error) => {
      clearTimeout(timer);
      setListed((before) => ({ ...before, counters: undefined, error }));
    };
    let isOver = false;
    let stop = () => {};
    const watch = (page: Query) => {
      stop = onSnapshot(
        page,
        { includeMetadataChanges: true },
        (snapshot) => {
          const { fromCache } = snapshot.metadata;
          // The first answer of the server is billed in full, even for cached documents.
          if (!fromCache) {
            reads += isFirst ? snapshot.size : snapshot.docChanges().filter(({ type }) => type !== "removed").length;
            isFirst = false;
          }
          take(snapshot);
        },
        fail,
      );
    };
    const begin = async () => {
      if (!after) return watch(pageOf(db, listing));
      const start = await getDoc(doc(db, "counters", after));
      if (isOver) return;
      reads++;
      const page = pageOf(db, listing, start);
      if (page) watch(page);
      else showNone(true);
    };
    begin().catch((error) => isOver || fail(error));
    return () => {
      isOver = true;
      clearTimeout(timer);
      stop();
      setListed((before) => ({ ...before, isCurrent: false }));
    };
  }, [db, listing, after, visible, recentRates]);
  return { ...listed, recentRates };
}

/** @returns `undefined` if the page cannot start after this document */
function pageOf(db: Firestore, listing: Listing): Query;
function pageOf(db: Firestore, listing: Listing, start: DocumentSnapshot): Query | undefined;
function pageOf(db: Firestore, listing: Listing, start?: DocumentSnapshot): Query | undefined {
  const page = query(collection(db, "counters"), ...constraintsOf(listing), limit(PAGE_SIZE + 1));
  if (!start) return page;
  try {
    return query(page, startAfter(start));
  } catch {
    // The SDK refuses a document that does not exist, or lacks a field of the order.
    return undefined;
  }
}

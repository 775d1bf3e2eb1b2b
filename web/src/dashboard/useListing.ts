/** Watches one page of the list of counters while the tab is visible, and counts the reads. */
import {
  collection,
  type DocumentSnapshot,
  limit,
  onSnapshot,
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
import { learnServerTime, serverTime } from "../page/serverTime.ts";
import { constraintsOf, type Listing } from "./listing.ts";
import { type RecentRates, recordRate } from "./sparkline.ts";

export const PAGE_SIZE = 20;

/** Busy counters are published one by one; more than a few redraws a second help no reader. */
const REDRAW_MS = 250;

export interface Listed {
  /** `undefined` until they arrive. */
  readonly counters: readonly Published[] | undefined;
  /** The last counter of the page; `undefined` if there is no next page. */
  readonly end: DocumentSnapshot | undefined;
  /** Documents read since the dashboard was opened. */
  readonly reads: number;
  readonly recentRates: RecentRates;
  /** Whether Firestore does not answer, so that these are from the cache. */
  readonly fromCache: boolean;
  readonly error: Error | undefined;
}

export function useListing(
  { db }: Connection,
  listing: Listing,
  after: DocumentSnapshot | undefined,
  visible: boolean,
): Listed {
  const [recentRates] = useState<RecentRates>(() => new Map());
  const [listed, setListed] = useState<Omit<Listed, "recentRates">>({
    counters: undefined,
    end: undefined,
    reads: 0,
    fromCache: false,
    error: undefined,
  });
  useEffect(() => {
    if (!visible) return;
    // No id has this prefix, and Firestore would reject the query.
    if (listing.prefix !== undefined && !isDocumentId(listing.prefix)) {
      return setListed((before) => ({ ...before, counters: [], end: undefined, fromCache: false, error: undefined }));
    }
    let reads = 0;
    let isFirst = true;
    let latest: QuerySnapshot | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let state: Pick<Listed, "counters" | "end" | "fromCache"> | undefined;
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
        end: listed.length > PAGE_SIZE ? listed[PAGE_SIZE - 1] : undefined,
        fromCache,
      };
      timer ??= setTimeout(show, REDRAW_MS);
    };
    const page = query(
      collection(db, "counters"),
      ...constraintsOf(listing),
      ...(after ? [startAfter(after)] : []),
      limit(PAGE_SIZE + 1),
    );
    const stop = onSnapshot(
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
        latest = snapshot;
        if (!fromCache)
          learnServerTime(db, snapshot.docs).then((hasMoved) => hasMoved && latest === snapshot && take(snapshot));
      },
      (error) => {
        clearTimeout(timer);
        setListed((before) => ({ ...before, counters: undefined, error }));
      },
    );
    return () => {
      latest = undefined;
      clearTimeout(timer);
      stop();
    };
  }, [db, listing, after, visible, recentRates]);
  return { ...listed, recentRates };
}

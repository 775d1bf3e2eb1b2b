/** Watches a page of counters, while anybody looks at it, and counts what that costs. */
import { collection, type DocumentSnapshot, limit, onSnapshot, query, startAfter } from "firebase/firestore";
import { useEffect, useState } from "preact/hooks";
import { type Published, toPublished } from "../counter/published.ts";
import type { Backend } from "../firebase/backend.ts";
import { isId } from "../page/route.ts";
import { constraintsOf, type Listing } from "./listing.ts";
import { remember, type Sparks } from "./sparks.ts";

export const PAGE_SIZE = 20;

/** Busy counters are published one by one, and nobody can follow more than a few changes a second. */
const REDRAW_MS = 250;

export interface Listed {
  /** `undefined` before they have come. */
  readonly counters: readonly Published[] | undefined;
  /** The last one, after which the next page begins; `undefined` if there is no next page. */
  readonly end: DocumentSnapshot | undefined;
  /** Documents read since the dashboard was opened. */
  readonly reads: number;
  readonly sparks: Sparks;
  /** Whether these are from the cache, because Firestore does not answer. */
  readonly fromCache: boolean;
  readonly error: Error | undefined;
}

export function useListing(
  { db }: Backend,
  listing: Listing,
  after: DocumentSnapshot | undefined,
  visible: boolean,
): Listed {
  const [sparks] = useState<Sparks>(() => new Map());
  const [listed, setListed] = useState<Omit<Listed, "sparks">>({
    counters: undefined,
    end: undefined,
    reads: 0,
    fromCache: false,
    error: undefined,
  });
  useEffect(() => {
    if (!visible) return;
    // No id begins so, and Firestore would not take the question.
    if (listing.prefix !== undefined && !isId(listing.prefix)) {
      return setListed((before) => ({ ...before, counters: [], end: undefined, fromCache: false, error: undefined }));
    }
    let reads = 0;
    let isFirst = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let state: Pick<Listed, "counters" | "end" | "fromCache"> | undefined;
    const show = () => {
      timer = undefined;
      const more = reads;
      reads = 0;
      setListed((before) => ({ ...before, ...state, reads: before.reads + more, error: undefined }));
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
        // What the server sends first is all there is, whatever of it was in the cache.
        if (!fromCache) {
          reads += isFirst ? snapshot.size : snapshot.docChanges().filter(({ type }) => type !== "removed").length;
          isFirst = false;
        }
        const published = snapshot.docs.slice(0, PAGE_SIZE).flatMap((document) => toPublished(document) ?? []);
        for (const { id, asOf, rate } of published) remember(sparks, id, { at: asOf, rate });
        state = {
          // An empty cache says nothing.
          counters: fromCache && published.length === 0 ? undefined : published,
          end: snapshot.size > PAGE_SIZE ? snapshot.docs[PAGE_SIZE - 1] : undefined,
          fromCache,
        };
        timer ??= setTimeout(show, REDRAW_MS);
      },
      (error) => {
        clearTimeout(timer);
        setListed((before) => ({ ...before, counters: undefined, error }));
      },
    );
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [db, listing, after, visible, sparks]);
  return { ...listed, sparks };
}

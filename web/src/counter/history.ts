/** The publishes of a counter that this page has seen: what its line is drawn from, and what its costs follow from. */
import type { Published } from "./published.ts";

/** How far back the line goes. */
export const WINDOW_MS = 120_000;

export interface Seen {
  /** By time; a little more than the window, so that the line does not begin in the middle of it. */
  readonly recent: readonly Published[];
  readonly first: Published | undefined;
  readonly last: Published | undefined;
  /** How many this page has seen, of `last.publishes - first.publishes`. */
  readonly seen: number;
  /** Documents that the functions read for the publishes, those not seen taken to be as large as the one after them. */
  readonly documents: number;
  /** Increments of the first shard, which wake a function: one of `shardCount`. */
  readonly wakes: number;
}

export const NOTHING_SEEN: Seen = { recent: [], first: undefined, last: undefined, seen: 0, documents: 0, wakes: 0 };

/** The first one is where the page came in; it counts from the second. */
export function see(seen: Seen, published: Published): Seen {
  if (seen.last && published.asOf <= seen.last.asOf) return seen;
  const { last = published } = seen;
  const recent = [...seen.recent, published];
  const firstKept = recent.findLastIndex(({ asOf }) => asOf < published.asOf - WINDOW_MS);
  return {
    recent: recent.slice(Math.max(firstKept, 0)),
    first: seen.first ?? published,
    last: published,
    seen: seen.seen + 1,
    documents: seen.documents + (published.publishes - last.publishes) * published.shardDocuments,
    wakes: seen.wakes + (published.writes - last.writes) / last.shardCount,
  };
}

/** The publishes of a counter that this page has seen: what its line is drawn from, and what its costs follow from. */
import type { Published } from "./published.ts";

/** How far back the line goes. */
export const WINDOW_MS = 120_000;

export interface Seen {
  /** By time; a little more than the window, so that the line does not begin in the middle of it. */
  readonly recent: readonly Published[];
  readonly first: Published | undefined;
  readonly last: Published | undefined;
  readonly publishes: number;
  /** Documents that the functions read for these publishes. */
  readonly documents: number;
}

export const NOTHING_SEEN: Seen = { recent: [], first: undefined, last: undefined, publishes: 0, documents: 0 };

/** The first one is where the page came in; it counts from the second. */
export function see(seen: Seen, published: Published): Seen {
  if (seen.last && published.asOf <= seen.last.asOf) return seen;
  const isFirst = seen.first === undefined;
  const recent = [...seen.recent, published];
  const firstKept = recent.findLastIndex(({ asOf }) => asOf < published.asOf - WINDOW_MS);
  return {
    recent: recent.slice(Math.max(firstKept, 0)),
    first: seen.first ?? published,
    last: published,
    publishes: seen.publishes + (isFirst ? 0 : 1),
    documents: seen.documents + (isFirst ? 0 : published.documents),
  };
}

/** The publishes and direct increments of a counter that this page has seen: the chart and the observed costs are computed from them. */
import { partOfShard0 } from "../../../core/src/index.ts";
import { measuringReads } from "../../../costs/src/index.ts";
import type { Published } from "./published.ts";

/** The time span of the chart. */
export const WINDOW_MS = 120_000;

export interface PublishLog {
  /** By time. Starts with the last publish before the window, so that the line starts at the left edge. */
  readonly recent: readonly Published[];
  readonly first: Published | undefined;
  readonly last: Published | undefined;
  /** How many states of the document this page has seen. */
  readonly seen: number;
  /** Reads of the sums of shards, of all these publishes. An unseen publish counts as large as the next one. */
  readonly measuring: number;
  /** Increments of shard 0, which wake a function. */
  readonly wakes: number;
}

export const EMPTY_LOG: PublishLog = {
  recent: [],
  first: undefined,
  last: undefined,
  seen: 0,
  measuring: 0,
  wakes: 0,
};

/** Adds a state that is later than the last. The first one is the starting point: reads and wakes count from the second. */
export function logPublish(log: PublishLog, published: Published): PublishLog {
  if (log.last && !isLater(published, log.last)) return log;
  const { last = published } = log;
  const recent = [...log.recent, published];
  const firstKept = recent.findLastIndex(({ asOf }) => asOf < published.asOf - WINDOW_MS);
  return {
    recent: recent.slice(Math.max(firstKept, 0)),
    first: log.first ?? published,
    last: published,
    seen: log.seen + 1,
    measuring: log.measuring + (published.publishes - last.publishes) * measuringReads(published.shardDocuments),
    wakes: log.wakes + (published.writes - last.writes) * partOfShard0(last.shardCount),
  };
}

/** A publish may be of an earlier instant than the direct increments beside it. */
function isLater({ asOf, publishes }: Published, last: Published): boolean {
  return asOf > last.asOf || (asOf === last.asOf && publishes > last.publishes);
}

/** Increments of both kinds. */
export function incrementsOf({ first, last }: Pick<PublishLog, "first" | "last">): number {
  if (!first || !last) return 0;
  return last.writes - first.writes + last.directWrites - first.directWrites;
}

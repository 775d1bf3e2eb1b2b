/**
 * How active each shard is: its writes per second between two listings.
 *
 * All writes of a new shard are recent. A folded shard is gone; its count moved into `base`, which no client writes, so `base`
 * has no cell.
 */
import type { ShardListing } from "./listShards.ts";

export interface ShardActivity {
  readonly index: number;
  /** Writes per second, smoothed. */
  readonly perSecond: number;
}

/** A shorter time between listings says little: a shard takes about one write per second. */
const MIN_INTERVAL_MS = 500;

/** The weight of the previous activity, so that chance does not make the cells flicker. */
const SMOOTHING = 0.4;

/** @returns in the order of indexes */
export function shardActivity(
  listing: ShardListing,
  before: ShardListing | undefined,
  previous: readonly ShardActivity[] | undefined,
): ShardActivity[] {
  const writesBefore = new Map(before?.shards.map(({ id, writes }) => [id, writes]));
  const previousRates = new Map(previous?.map(({ index, perSecond }) => [index, perSecond]));
  const seconds = Math.max(listing.at - (before?.at ?? listing.at), MIN_INTERVAL_MS) / 1_000;
  return listing.shards
    .filter(({ id }) => /^\d+$/.test(id))
    .map(({ id, writes }) => {
      const index = Number(id);
      const latest = before ? Math.max(writes - (writesBefore.get(id) ?? 0), 0) / seconds : 0;
      return { index, perSecond: SMOOTHING * (previousRates.get(index) ?? latest) + (1 - SMOOTHING) * latest };
    })
    .sort((a, b) => a.index - b.index);
}

/** The same shards without writes. */
export function withoutWrites(activity: readonly ShardActivity[]): ShardActivity[] {
  return activity.map(({ index }) => ({ index, perSecond: 0 }));
}

/** Whether a shard was written recently: above what smoothing leaves of old writes. */
export function isActive({ perSecond }: ShardActivity): boolean {
  return perSecond > 0.05;
}

/** How strongly a cell is coloured, 0 to 1. One write per second, what a document takes, is above one half. */
export function colourStrength(perSecond: number): number {
  return perSecond / (perSecond + 0.6);
}

/**
 * The traffic of a month, and the parts of the day it has: a busy one, if there is a peak, and the rest.
 *
 * Writes are even within each part. The functions' own rules decide shard counts and intervals.
 */
import {
  areAny,
  decideScaling,
  groupsThatNeedPublishes,
  publishInterval,
  type Settings,
} from "../../functions/src/decisions.ts";
import { directShare } from "./directShare.ts";

export interface Traffic {
  /** Increments per second of all counters together, averaged over the day. */
  readonly perSecond: number;
  /** Increments per second of all counters together in the busy part of the day. At least `perSecond`. */
  readonly peakPerSecond: number;
  /** The longest the busy part may last. It is shorter if the peak would exceed the day's increments. */
  readonly peakHours: number;
  /** How many counters share the traffic evenly. */
  readonly counters: number;
  /** The share of increments that have `once`, from 0 to 1. */
  readonly once: number;
  /** Clients that watch one counter, averaged over the day. */
  readonly watchers: number;
  /** Counter documents that clients read in a day, of all counters together: one per read, one per watch that begins. */
  readonly readsPerDay: number;
  /**
   * Increments of one counter that a client makes per read of the shard count, which it keeps for two minutes. 0 for
   * clients that watch the counter: they know the shard count already.
   */
  readonly perClient: number;
  /** Events in a request of ingest, through which all increments come. Default: clients write them. */
  readonly batch?: number | undefined;
  /** Databases over which the traffic is spread evenly, and which exchange their totals. Default 1. */
  readonly regions?: number | undefined;
  /** The total of one counter. Default: half of what it counts in a month. */
  readonly total?: number | undefined;
}

/** One part of the day, for one counter. */
export interface DayPart {
  readonly hours: number;
  /** Increments per second of one counter. */
  readonly rate: number;
  /** Writes per second of its shards: as many, or fewer if they come through ingest or some are direct. */
  readonly writes: number;
  /** Increments per second that clients write to the counter document. */
  readonly direct: number;
  readonly shards: number;
  /** Milliseconds between two totals. */
  readonly interval: number;
}

/** How long ingest gathers what it commits together, in seconds (functions/src/features/ingest/grouping.ts). */
const WINDOW_SECONDS = 0.2;

/** Writes per second of one counter's shards if one instance of ingest commits what comes, with one write for each counter. */
function groupedWrites(rate: number, counters: number, batch: number): number {
  const requests = (rate * counters) / batch;
  if (requests === 0) return 0;
  const commits = requests / (1 + WINDOW_SECONDS * requests);
  return commits * (1 - (1 - 1 / counters) ** ((rate * counters) / commits));
}

/** The part of the traffic that one of several regions has. */
export function shareOf(traffic: Traffic, regions: number): Traffic {
  const { perSecond, peakPerSecond, watchers, total } = traffic;
  return {
    ...traffic,
    perSecond: perSecond / regions,
    peakPerSecond: peakPerSecond / regions,
    watchers: watchers / regions,
    total: total === undefined ? undefined : total / regions,
  };
}

/** Days of a month. */
export const DAYS = 30;
export const MONTH_SECONDS = DAYS * 86_400;

/** The total of one counter, halfway through the month unless it is given. */
function totalOf({ total, perSecond, counters }: Traffic): number {
  return total ?? (perSecond * MONTH_SECONDS) / 2 / counters;
}

/** The busy part of the day, if there is one, and the rest. */
export function dayPartsOf(traffic: Traffic, config: Settings): DayPart[] {
  const { perSecond, counters, batch, regions = 1 } = traffic;
  const peak = Math.max(traffic.peakPerSecond, perSecond);
  const busy = peak > perSecond ? Math.min(traffic.peakHours, peak > 0 ? (24 * perSecond) / peak : 0) : 0;
  const rest = 24 - busy > 0 ? Math.max(24 * perSecond - busy * peak, 0) / (24 - busy) : 0;
  const total = totalOf(traffic);
  // A group that needs a publish for each total has no direct increments. Nor have servers, such as ingest.
  const mayBeDirect = batch === undefined && regions === 1 && !areAny(groupsThatNeedPublishes(config));

  const part = (hours: number, rate: number, shardsBefore: number): DayPart => {
    const writes = batch === undefined ? rate : groupedWrites(rate, counters, batch);
    const shards = stableShardCount(writes, shardsBefore, config);
    const interval = publishInterval({ total, rate: writes, amountRate: rate, collectionCount: null }, config);
    const direct = mayBeDirect && shards === 1 ? rate * directShare(rate) : 0;
    return { hours, rate, writes: writes - direct, direct, shards, interval };
  };
  const atPeak = part(busy, peak / counters, config.minShards);
  const offPeak = part(24 - busy, rest / counters, atPeak.shards);
  return busy > 0 ? [atPeak, offPeak].filter(({ hours }) => hours > 0) : [offPeak];
}

/** The shard count at which the functions stay under a rate, starting from another one. */
function stableShardCount(rate: number, from: number, config: Settings): number {
  // Over a month some clients meet contention, so the average rate is not discounted for chance.
  const demand = { rate, writes: rate, duration: 1_000, contentionShards: Number.POSITIVE_INFINITY };
  for (let shardCount = from; ; ) {
    const scaling = { shardCount, calmSince: 0 };
    const { shardCount: next } = decideScaling(demand, scaling, config.shrinkCooldown, config.minShards, config);
    if (next === shardCount) return shardCount;
    shardCount = next;
  }
}

/**
 * How long a published total may age before the next one.
 *
 * Long enough that the total has visibly changed, and that reading the shards costs no more than a set share of what
 * the increments cost; within bounds people set. A counter written less than once in the longest interval gets the
 * shortest: there is nothing to coalesce, so waiting would save nothing. But if a measurement is dear, it gets the
 * longest: of a large collection that is counted, the rate is only a lower bound, and the reads are certain. Shards that
 * are folded as soon as the counter proves to be sparse do not make it dear. And a counter that has just grown is measured as
 * soon as its increments pay for it, because the next step up may be due.
 */
import type { Config, Millis } from "./config.ts";
import type { Published } from "./counter.ts";

/** Whether less than one write is expected within the longest interval: too few to coalesce, too few to sweep. */
export function isSparse(rate: number, config: Config): boolean {
  return rate * config.maxInterval < 1_000;
}

/** US dollars per 100,000 documents in nam5 (https://firebase.google.com/docs/firestore/pricing). Only the ratio matters. */
const READ_PRICE = 0.06;
const WRITE_PRICE = 0.18;

/** A measurement is dear from this many documents for each shard the counter needs. */
const DEAR = 10;

/** What an interval follows from. */
export type Load = Pick<Published, "total" | "rate" | "shardCount" | "shardDocuments" | "silentShards" | "growing">;

/**
 * @param counter  its last published total, its rate in writes per second, and how many shards there are: those to
 *                 spread over, or those that were read, if there were more
 * @returns        the least time between two published totals
 */
export function publishInterval(counter: Load, config: Config): Millis {
  const { total, rate, shardCount, shardDocuments, silentShards, growing } = counter;
  const { precision, budget, minInterval, maxInterval } = config;
  if (isSparse(rate, config)) return shardDocuments - silentShards < DEAR * shardCount ? minInterval : maxInterval;
  // What its old shards could take says little of what is asked of it now.
  const untilVisible = growing ? 0 : (precision * Math.abs(total)) / rate;
  const share = growing ? Math.max(budget, 1) : budget;
  const shards = growing ? shardDocuments : Math.max(shardCount, shardDocuments);
  const untilAffordable = (shards * READ_PRICE) / (share * rate * WRITE_PRICE);
  return Math.min(Math.max(1_000 * Math.max(untilVisible, untilAffordable), minInterval), maxInterval);
}

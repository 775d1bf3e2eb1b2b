/**
 * How long a published total may age before the next one: until the change can be seen, within bounds that are set.
 *
 * A counter that is written less than once in the longest interval gets the shortest, since there is nothing to coalesce. A
 * counted collection costs a read per 1,000 documents; {@link READS_PER_SECOND} limits that as far as the bounds allow.
 */
import type { Config, Millis } from "./config.ts";
import type { Published } from "./counterDocument.ts";
import { shardIndex } from "./shards.ts";

/** What counting a collection may cost while documents come and go. */
const READS_PER_SECOND = 5;

/** Whether less than one write is expected within the longest interval. */
export function isSparse(rate: number, { maxInterval }: Pick<Config, "maxInterval">): boolean {
  return rate * maxInterval < 1_000;
}

/**
 * @param rate   writes per second
 * @param reads  what counting the collection costs; 0 for a counter that sums its shards
 * @returns      the least time between two published totals
 */
export function publishInterval(total: number, rate: number, reads: number, config: Config): Millis {
  const { precision, minInterval, maxInterval } = config;
  const untilVisible = isSparse(rate, config) ? 0 : (1_000 * precision * Math.abs(total)) / rate;
  const untilAffordable = (1_000 * reads) / READS_PER_SECOND;
  return Math.min(Math.max(untilVisible, untilAffordable, minInterval), maxInterval);
}

/** Why a counter is looked at. */
export interface Cause {
  /** A write's commit time, or a task's due time: all writes up to it are counted. */
  readonly at: Millis;
  /** Whether it is the poll that a publish has scheduled for `at`, or one in place of it. */
  readonly isPoll: boolean;
  /** The shard that was written, if it was one: finding it in the measurement is proof enough. */
  readonly shardId?: string | undefined;
  /** Whether the write created that shard. */
  readonly isNew?: boolean | undefined;
}

/**
 * The earliest instant that the next publish may be exact for.
 *
 * The shortest interval applies after a shard was created beyond the shard count, which signals contention, and after
 * growth, because the average rate still lags.
 */
export function dueOf(published: Published, config: Config, cause?: Cause): Millis {
  const { total, rate, asOf, countReads, shardCount, growing, countedCollection } = published;
  const isContended =
    countedCollection === null && cause?.isNew && (shardIndex(cause.shardId ?? "") ?? 0) >= shardCount;
  return asOf + (isContended || growing ? config.minInterval : publishInterval(total, rate, countReads, config));
}

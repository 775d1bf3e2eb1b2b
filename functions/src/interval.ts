/**
 * How long a published total may age before the next one: until the change can be seen, within bounds that are set.
 *
 * A counter that is written less than once in the longest interval gets the shortest: there is nothing to coalesce, so
 * waiting would save nothing. A collection that is counted costs a read per 1,000 documents, so it is not counted so
 * often that this exceeds {@link READS_PER_SECOND}.
 */
import type { Config, Millis } from "./config.ts";

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

/**
 * How old a published total may become before the next one: until the change can be seen, within configured bounds.
 *
 * A counter that is written less than once in the longest interval gets the shortest, since there is nothing to coalesce.
 * Counting documents or listing shards instead of summing shards may cost more. {@link READS_PER_SECOND} limits this as far as the bounds
 * allow.
 */
import { type Cause, createdBeyond } from "./cause.ts";
import type { Millis } from "./time.ts";
import type { CounterSettings, Published } from "./types.ts";

/** What counting documents, or listing shards, may cost while they are written. */
const READS_PER_SECOND = 5;

/** What decides how soon a total is too old. */
export type Aging = Pick<Published, "total" | "rate" | "amountRate" | "collectionCount"> &
  Partial<Pick<Published, "slowSince" | "shardDocuments">>;

/** Whether less than one write is expected within the longest interval. */
export function isSparse(rate: number, { maxInterval }: Pick<CounterSettings, "maxInterval">): boolean {
  return rate * maxInterval < 1_000;
}

/**
 * The least time between two published totals.
 *
 * A total changes by its `amountRate` per second, and is taken to change by its `rate` at least: increments and undos may
 * cancel out for a while.
 */
export function publishInterval(counter: Aging, config: CounterSettings): Millis {
  const { total, rate, amountRate, collectionCount, slowSince = null, shardDocuments = 0 } = counter;
  const { precision, minInterval, maxInterval } = config;
  const untilVisible = isSparse(rate, config) ? 0 : (1_000 * precision * Math.abs(total)) / Math.max(rate, amountRate);
  const reads = collectionCount?.reads ?? (slowSince === null ? 0 : shardDocuments);
  const untilAffordable = (1_000 * reads) / READS_PER_SECOND;
  return Math.min(Math.max(untilVisible, untilAffordable, minInterval), maxInterval);
}

/**
 * The earliest instant that the next publish may be exact for. The shortest interval applies after a shard was created beyond
 * the shard count, which signals contention, and after growth, because the average rate still lags.
 */
export function nextPublishDue(published: Published, config: CounterSettings, cause?: Cause): Millis {
  const { asOf, shardCount, growing, collectionCount } = published;
  const isContended = !collectionCount && cause && createdBeyond(cause, shardCount);
  return asOf + (isContended || growing ? config.minInterval : publishInterval(published, config));
}

/**
 * A poll that is later than this is lost, as far as can be told: Cloud Tasks may be late by minutes
 * (https://cloud.google.com/tasks/docs/common-pitfalls). One that comes after all finds its instant counted.
 */
const LOST_AFTER: Millis = 60_000;

/** Whether the poll that the last publish has scheduled was lost. */
export function isPollLost({ nextPollAt }: Published, now: Millis): boolean {
  return nextPollAt !== null && now > nextPollAt + LOST_AFTER;
}

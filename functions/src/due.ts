/** Why a counter is looked at, and the earliest instant that its next publish may be exact for. */
import type { Config, Millis } from "./config.ts";
import type { Published } from "./counterDocument.ts";
import { publishInterval } from "./interval.ts";
import { shardIndex } from "./shards.ts";

export interface Cause {
  /** A write that must be counted, or the instant up to which all writes must be. */
  readonly at: Millis;
  /** Whether it is the poll that a publish has scheduled for `at`, or one in place of it. */
  readonly isPoll: boolean;
  /** The shard that was written, if it was one: finding it in the measurement is proof enough. */
  readonly shardId?: string | undefined;
  /** Whether the write created that shard. */
  readonly isNew?: boolean | undefined;
}

/**
 * A shard that was created beyond the shard count is a sign of contention, so the counter may grow as soon as the shortest
 * interval allows; and one that has just grown may grow again, before its average has come to what it has grown for.
 */
export function dueOf(published: Published, config: Config, cause?: Cause): Millis {
  const { total, rate, asOf, reads, shardCount, growing, counts } = published;
  const isContended = counts === null && cause?.isNew && (shardIndex(cause.shardId ?? "") ?? 0) >= shardCount;
  return asOf + (isContended || growing ? config.minInterval : publishInterval(total, rate, reads, config));
}

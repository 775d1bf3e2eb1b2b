/**
 * How many shards this client chooses from for its next write.
 *
 * The shard count comes from a watch or a read. It is used for two minutes or 20 writes; for one second if the count has just
 * grown, is missing, or writes are contended. While writes are contended, the client chooses from a multiple of the count:
 *
 *     refused    each refused write makes the multiple 8 times as large. Each answered one halves it, and growth of the count ends it
 *     slow       a write takes at least two seconds, and twice as long as a read of this client that was answered meanwhile or later.
 *                The longer it takes, the larger the multiple. The next answer ends it, or a slow answer some seconds later
 *
 * Reads do not wait for a contended document. So a read tells a slow write from a slow connection, and a device that is offline
 * does not take its queue for contention. Any number of shards is safe, because the total is the sum of all shards.
 */
import { MAX_SHARDS } from "./layout.ts";
import {
  FIRST_COUNT_MS,
  LATER_COUNT_MS,
  MAX_FACTOR,
  REFUSED_FACTOR,
  SHARD_COUNT_TTL_MS,
  SHARD_COUNT_TTL_WRITES,
  SHORT_SHARD_COUNT_TTL_MS,
  SLOW_FACTOR,
  SLOW_MEMORY_MS,
  SLOW_MIN_SHARDS,
  SLOW_WRITE_MS,
} from "./timeouts.ts";

/** The shard count of one counter, as one client knows it. One per counter and Firestore instance; synchronous, no I/O. */
export interface ShardCountCache {
  /** Whether the client chooses from more than the shard count. */
  _isContended(): boolean;
  /** Whether the client should read the shard count before its next write. */
  _isStale(): boolean;
  /** How long a write waits for that read at most, in milliseconds. */
  _longestWait(): number;
  /**
   * The client has read the counter document.
   *
   * @param shardCount - its shard count; anything but a number of 1 or more becomes 1. Without it, because the read failed
   *                     or there is no counter, the known count stays
   * @param growing - whether the count has just grown. A watch leaves it out, because it learns of further growth
   * @param roundTrip - how long the read took, in milliseconds. A watch leaves it out
   */
  _update(shardCount?: unknown, growing?: unknown, roundTrip?: number): void;
  _writeSent(): void;
  /** The write has an answer. @param isRefused - whether it was refused as contended */
  _writeAnswered(isRefused?: boolean): void;
  /** How many shards to choose from for the next write. */
  _shardsToChooseFrom(): number;
}

/** @param clock - a monotonic clock, in milliseconds */
export function createShardCountCache(clock: () => number): ShardCountCache {
  let shardCount = 1;
  let knownAt = 0;
  let ttl = 0;
  let writes = 0;
  let pending = 0;
  /** Since when no write has been answered, while some are pending. */
  let waitingSince = 0;
  /** The wait that the last answer ended. */
  let [waitedSince, waitedUntil] = [0, 0];
  /** When the last read was answered, and how long it took. */
  let [readAt, roundTrip] = [0, 0];
  /** What refusals have left. */
  let factor = 1;
  /** How many times as long as an uncontended one a write takes, or took lately. @param isProven - as far as a read has told how long that is */
  const slowness = (isProven?: boolean) => {
    const now = clock();
    const slownessOf = (since: number, until: number) => {
      const isKnown = readAt > since;
      if (until - since >= SLOW_MEMORY_MS || (isProven && !isKnown)) return 0;
      return Math.floor((until - since) / Math.max(SLOW_WRITE_MS, isKnown ? 2 * roundTrip : 0));
    };
    return Math.max(
      pending && slownessOf(waitingSince, now),
      now - waitedUntil < SLOW_MEMORY_MS ? slownessOf(waitedSince, waitedUntil) : 0,
    );
  };
  const multiple = () => Math.max(factor, slowness(true) * Math.max(SLOW_FACTOR, SLOW_MIN_SHARDS / shardCount));
  return {
    _isContended: () => multiple() > 1,
    _isStale: () =>
      writes >= SHARD_COUNT_TTL_WRITES ||
      clock() - knownAt >= (multiple() > 1 || slowness() ? SHORT_SHARD_COUNT_TTL_MS : ttl),
    _longestWait: () => (ttl ? LATER_COUNT_MS : FIRST_COUNT_MS),
    _update(seen, growing, took) {
      const known = Math.max((seen ?? shardCount) as number, 1) || 1;
      // The backend grew the count because of the contention.
      if (known > shardCount) [factor, waitedUntil] = [1, waitedSince];
      shardCount = known;
      knownAt = clock();
      ttl = seen && !growing ? SHARD_COUNT_TTL_MS : SHORT_SHARD_COUNT_TTL_MS;
      if (took !== undefined) [readAt, roundTrip] = [knownAt, took];
      writes = 0;
    },
    _writeSent() {
      writes++;
      if (!pending++) waitingSince = clock();
    },
    _writeAnswered(isRefused) {
      const before = multiple();
      pending--;
      const now = clock();
      [waitedSince, waitedUntil] = isRefused ? [now, now] : [waitingSince, now];
      waitingSince = now;
      if (isRefused) factor = Math.min(before * REFUSED_FACTOR, MAX_FACTOR);
      else factor = Math.max(factor / 2, 1);
    },
    _shardsToChooseFrom: () => Math.min(multiple() * shardCount, MAX_SHARDS),
  };
}

/**
 * How many shards this client chooses from for its next write.
 *
 * The shard count comes from a watch or a read. It is used for two minutes or 20 writes; for one second if the count has just
 * grown, is missing, or writes are contended. While writes are contended, the client chooses from a multiple of the count:
 *
 *     refused    each refused write multiplies the choice by 8. Each answered one halves it, and growth of the count resets it
 *     slow       a write without an answer for two seconds, and for four times as long as a read took that was answered since. The
 *                longer the wait, the larger the multiple. A prompt answer or growth of the count resets it; after a slow answer it
 *                ends ten seconds later
 *
 * Reads do not wait for a contended document, so a read tells a slow write from a slow connection. An outage of two to ten seconds
 * looks like contention. A device that is offline for longer does not take its queue for contention, nor does one whose reads are
 * not answered; nor are writes of a user who has signed out, which wait for that user. Any number of shards is safe, because the total is
 * the sum of all shards.
 */
import { MAX_SHARDS } from "./layout.ts";
import {
  FIRST_COUNT_TIMEOUT_MS,
  LATER_COUNT_TIMEOUT_MS,
  MAX_FACTOR,
  OFFLINE_AFTER_MS,
  REFUSED_FACTOR,
  SHARD_COUNT_TTL_MS,
  SHARD_COUNT_TTL_WRITES,
  SHORT_SHARD_COUNT_TTL_MS,
  SLOW_ANSWER_TTL_MS,
  SLOW_FACTOR,
  SLOW_MIN_SHARDS,
  SLOW_WRITE_MS,
  SLOW_WRITE_READS,
} from "./timeouts.ts";

/** A write that was sent. */
export interface SentWrite {
  readonly _at: number;
}

/** The shard count of one counter, as one client knows it. One per counter and Firestore instance; synchronous, no I/O. */
export interface ShardCountCache {
  /** Whether the client chooses from more than the shard count. */
  _isContended(): boolean;
  /** Whether the client should read the shard count before its next write. @param isLive - whether a watch delivers the document */
  _isStale(isLive?: boolean): boolean;
  /** How long a write waits for a read of the shard count at most, in milliseconds. */
  _countTimeout(): number;
  /**
   * The client has read the counter document.
   *
   * @param shardCount - its shard count; anything but a number of 1 or more becomes 1. Without it, because the read failed
   *                     or there is no counter, the known count stays
   * @param growing - whether the count has just grown. A watch leaves it out, because it learns of further growth
   * @param readMillis - how long the read took, in milliseconds. A failed read and a watch leave it out
   */
  _update(shardCount?: unknown, growing?: unknown, readMillis?: number): void;
  _writeSent(): SentWrite;
  /** The write has an answer. @param isRefused - whether it was refused as contended */
  _writeAnswered(write: SentWrite, isRefused?: boolean): void;
  /** How many shards to choose from for the next write. */
  _shardsToChooseFrom(): number;
}

/** @param clock - a monotonic clock, in milliseconds */
export function createShardCountCache(clock: () => number): ShardCountCache {
  let shardCount = 1;
  let knownAt = 0;
  let ttl = 0;
  /** Whether a watch or a read, even one that failed, has updated the count. */
  let hasCount = false;
  let writes = 0;
  /** The writes without an answer, in their order. */
  let unanswered: SentWrite[] = [];
  /** When a write was answered last. */
  let answeredAt = 0;
  /** Since when the writes without an answer wait. */
  const waitingSince = () => unanswered[0] && Math.max(answeredAt, unanswered[0]._at);
  /** The wait that the last answer ended. */
  let lastWait: { since: number; until: number } | undefined;
  /** When the last read was answered, and how long it took. */
  let [readAt, roundTrip] = [0, 0];
  /** The multiple that refusals have built up. */
  let factor = 1;
  /**
   * How many times the expected duration the current or the last wait has lasted, rounded down. With "proven", waits that no read
   * was answered since are left out.
   */
  const slowness = (evidence: "proven" | "suspected") => {
    const now = clock();
    const slownessOf = (since = now, until = now) => {
      const isProven = readAt > since;
      if (until - since >= OFFLINE_AFTER_MS || (evidence === "proven" && !isProven)) return 0;
      return Math.floor((until - since) / Math.max(SLOW_WRITE_MS, isProven ? SLOW_WRITE_READS * roundTrip : 0));
    };
    return Math.max(
      slownessOf(waitingSince()),
      lastWait && now - lastWait.until < SLOW_ANSWER_TTL_MS ? slownessOf(lastWait.since, lastWait.until) : 0,
    );
  };
  const multiple = () => Math.max(factor, slowness("proven") * Math.max(SLOW_FACTOR, SLOW_MIN_SHARDS / shardCount));
  return {
    _isContended: () => multiple() > 1,
    _isStale(isLive) {
      const isDoubtful = factor > 1 || slowness("suspected") > 0;
      if (isLive && !isDoubtful) return false;
      return writes >= SHARD_COUNT_TTL_WRITES || clock() - knownAt >= (isDoubtful ? SHORT_SHARD_COUNT_TTL_MS : ttl);
    },
    _countTimeout: () => (hasCount ? LATER_COUNT_TIMEOUT_MS : FIRST_COUNT_TIMEOUT_MS),
    _update(seen, growing, readMillis) {
      const known = Math.max((seen ?? shardCount) as number, 1) || 1;
      // The backend grew the count because of the contention.
      if (known > shardCount) {
        factor = 1;
        lastWait = undefined;
      }
      shardCount = known;
      knownAt = clock();
      ttl = seen && !growing ? SHARD_COUNT_TTL_MS : SHORT_SHARD_COUNT_TTL_MS;
      hasCount = true;
      if (readMillis !== undefined) [readAt, roundTrip] = [knownAt, readMillis];
      writes = 0;
    },
    _writeSent() {
      writes++;
      const write = { _at: clock() };
      unanswered.push(write);
      return write;
    },
    _writeAnswered(write, isRefused) {
      const before = multiple();
      const now = clock();
      const since = waitingSince();
      lastWait = isRefused || since === undefined ? undefined : { since, until: now };
      answeredAt = now;
      // Those that the server has answered others after so long may be of a user who has signed out.
      unanswered = unanswered.filter((one) => one !== write && now - one._at < OFFLINE_AFTER_MS);
      if (isRefused) factor = Math.min(before * REFUSED_FACTOR, MAX_FACTOR);
      else factor = Math.max(factor / 2, 1);
    },
    _shardsToChooseFrom: () => Math.min(multiple() * shardCount, MAX_SHARDS),
  };
}

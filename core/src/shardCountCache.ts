/**
 * How many shards this client chooses from for its next write.
 *
 * The shard count comes from a watch or a read. It is used for two minutes or 20 writes; for one second if the count has just
 * grown, is missing, or writes are contended. The client chooses from a multiple of the count after a refused write, and after
 * each second in which no pending request was answered: the longer it waits, the larger the multiple. Any number of shards is
 * safe, because the total is the sum of all shards.
 */
import { MAX_SHARDS } from "./layout.ts";
import {
  MAX_FACTOR,
  MAX_SLOW_SECONDS,
  REFUSED_FACTOR,
  SHARD_COUNT_TTL_MS,
  SHARD_COUNT_TTL_WRITES,
  SLOW_ACK_MS,
  SLOW_FACTOR,
  SLOW_MIN_SHARDS,
} from "./timeouts.ts";

/** The shard count of one counter, as one client knows it. One per counter and Firestore instance; synchronous, no I/O. */
export interface ShardCountCache {
  /** Whether the client chooses from more than the shard count. */
  _isContended(): boolean;
  /** Whether the client should read the shard count before its next write. */
  _isStale(): boolean;
  /**
   * The client has read the counter document.
   *
   * @param shardCount - its shard count; anything but a number of 1 or more becomes 1. Without it, because the read failed
   *                     or there is no counter, the known count stays
   * @param growing - whether the count has just grown. A watch leaves it out, because it learns of further growth
   */
  _update(shardCount?: unknown, growing?: unknown): void;
  /** The client sends a write or a read of the shard count. */
  _requestSent(): void;
  /** The request has an answer. @param isRefused - whether the write was refused as contended */
  _requestAnswered(isRefused?: boolean): void;
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
  let waitingSince = 0;
  /** What earlier answers have left. `multiple` adds the present wait. */
  let factor = 1;
  const multiple = () => {
    const slowSeconds = pending && Math.min(Math.floor((clock() - waitingSince) / SLOW_ACK_MS), MAX_SLOW_SECONDS);
    return Math.max(factor, slowSeconds * Math.max(SLOW_FACTOR, SLOW_MIN_SHARDS / shardCount));
  };
  return {
    _isContended: () => multiple() > 1,
    _isStale: () => writes >= SHARD_COUNT_TTL_WRITES || clock() - knownAt >= (multiple() > 1 ? SLOW_ACK_MS : ttl),
    _update(seen, growing) {
      const known = Math.max((seen ?? shardCount) as number, 1) || 1;
      // The backend grew the count because of the refusals.
      if (known > shardCount) factor = 1;
      shardCount = known;
      knownAt = clock();
      ttl = seen && !growing ? SHARD_COUNT_TTL_MS : SLOW_ACK_MS;
      writes = 0;
    },
    _requestSent() {
      writes++;
      if (!pending++) waitingSince = clock();
    },
    _requestAnswered(isRefused) {
      const before = multiple();
      pending--;
      waitingSince = clock();
      if (isRefused) factor = Math.min(before * REFUSED_FACTOR, MAX_FACTOR);
      // If the wait has raised the multiple, the answer keeps it. Any other answer halves the factor.
      else factor = before > factor ? before : Math.max(factor / 2, 1);
    },
    _shardsToChooseFrom: () => Math.min(multiple() * shardCount, MAX_SHARDS),
  };
}

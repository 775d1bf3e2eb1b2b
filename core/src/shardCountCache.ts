/**
 * Over how many shards this client spreads its writes.
 *
 * The shard count comes from a watch, or from a read that is trusted for two minutes or 20 writes; for one second if the
 * count has just grown, is missing, or writes are contended. Contention widens the choice: a second without an answer to a
 * write or read, or a refused write. Any choice is safe, because the total is the sum of all shards.
 */
import { MAX_SHARDS } from "./layout.ts";
import { SHARD_COUNT_TTL_MS, SHARD_COUNT_TTL_WRITES, SLOW_ACK_MS } from "./timeouts.ts";

/** How many times the shard count a client spreads over while the database is slow to answer; and over how many at least. */
const WIDER_IF_SLOW = 4;
const WIDTH_IF_SLOW = 64;

/** How many times as many shards each refusal adds to the choice: it comes late, after seconds in a queue. */
const WIDER_PER_REFUSAL = 8;

/** How many times the shard count a client spreads over at most. */
const WIDEST = 256;

/** What one client knows of one counter. One per counter and Firestore instance; synchronous, no I/O. */
export interface ShardCountCache {
  /** Whether there has been no answer for longer than a second, or writes were refused as contended lately. */
  _isContended(): boolean;
  /** Whether the shard count should be read before the next write: it is unknown or old, or writes are contended. */
  _isStale(): boolean;
  /**
   * The counter document was read.
   *
   * @param shardCount - what it says; anything but a number from 1 on is taken for 1. Left out if the read failed: what
   *                    is known stays
   * @param growing - whether it says that the count has just grown. Left out by who will be told when it grows on
   */
  _update(shardCount?: unknown, growing?: unknown): void;
  /** A write was sent, or the count asked for. */
  _requestSent(): void;
  /** That was answered. @param isRefused - whether it was refused as contended */
  _requestAnswered(isRefused?: boolean): void;
  /** Over how many shards to spread the next write. */
  _shardsToChooseFrom(): number;
}

/** @param clock - the time in milliseconds since the epoch, such as `Date.now` */
export function createShardCountCache(clock: () => number): ShardCountCache {
  let shardCount = 1;
  let knownAt = 0;
  let ttl = 0;
  let writes = 0;
  let pending = 0;
  let answeredAt = 0;
  /** How many times the shard count a client spreads over after signs of contention: less with each quick answer. */
  let wider = 1;
  const factor = () =>
    Math.max(
      wider,
      pending && clock() - answeredAt > SLOW_ACK_MS ? Math.max(WIDER_IF_SLOW, WIDTH_IF_SLOW / shardCount) : 1,
    );
  return {
    _isContended: () => factor() > 1,
    _isStale: () => writes >= SHARD_COUNT_TTL_WRITES || clock() - knownAt >= (factor() > 1 ? SLOW_ACK_MS : ttl),
    _update(seen, growing) {
      const known = Math.max((seen ?? shardCount) as number, 1) || 1;
      // A count that has grown takes the refusals into account.
      if (known > shardCount) wider = 1;
      shardCount = known;
      knownAt = clock();
      ttl = seen && !growing ? SHARD_COUNT_TTL_MS : SLOW_ACK_MS;
      writes = 0;
    },
    _requestSent() {
      writes++;
      if (!pending++) answeredAt = clock();
    },
    _requestAnswered(isRefused) {
      const before = factor();
      pending--;
      answeredAt = clock();
      if (isRefused) wider = Math.min(before * WIDER_PER_REFUSAL, WIDEST);
      else wider = before > wider ? before : Math.max(wider / 2, 1);
    },
    _shardsToChooseFrom: () => Math.min(factor() * shardCount, MAX_SHARDS),
  };
}

/**
 * Over how many shards this client spreads its writes.
 *
 * It knows the shard count from a watch on the counter, else from a read that is kept for a while. A write that is slow to
 * be acknowledged, or still is not, hints at contention: the next ones ask for the shard count first, and spread over twice
 * as many. Not to wait for the acknowledgement matters: of a shard with a long queue it may never come. Spreading too wide
 * or too narrow is always safe, because the total is the sum of every shard there is.
 */
import { MARK_SLOTS, MAX_SHARDS } from "../../core/src/index.ts";

/** How long a shard count that was read, not watched, is used before it is read again in the background. */
export const SHARD_COUNT_TTL_MS = 60_000;

/**
 * A busy writer looks again sooner, because it is part of what makes the counter grow: after this many writes of its
 * own, which keeps these reads below 2 % of what its writes cost.
 */
export const BUSY_WRITES = 20;

/** An acknowledgement that takes longer than this hints at contention on the shard: several times an ordinary round trip. */
export const SLOW_ACK_MS = 1_000;

/** How much wider than the shard count a client spreads at most. */
const WIDEST = 2;

/** What one client knows of one counter. One per counter and Firestore instance; synchronous, no I/O. */
export interface Spread {
  /** Whether to ask before the next write: what is known is old, or a write takes long, or took long. */
  _isStale(now: number): boolean;
  /**
   * The counter document was read.
   *
   * @param shardCount - what it says; anything but a number from 1 on is taken for 1. Left out if the read failed: what is
   *                    known stays, and is not asked for again at once
   */
  _learn(now: number, shardCount?: unknown): void;
  /** A write was sent. */
  _sent(now: number): void;
  /** The oldest write under way was acknowledged, or has failed: writes of one client are answered in their order. */
  _answered(now: number): void;
  /** Over how many shards to spread the next write. */
  _width(now: number): number;
  /** The turn of the next write of this client, which decides the slot of its mark. */
  _nextTurn(): number;
}

export function createSpread(random: () => number): Spread {
  let shardCount = 1;
  let knownAt = 0;
  let writesSince = 0;
  const underWay: number[] = [];
  // Of nothing under way the sum is no number, and nothing is slow.
  const isSlow = (now: number) => (underWay[0] as number) + SLOW_ACK_MS < now;
  let turn = Math.floor(random() * MARK_SLOTS);
  return {
    _isStale: (now) => isSlow(now) || now - knownAt >= SHARD_COUNT_TTL_MS || writesSince >= BUSY_WRITES,
    _learn(now, seen = shardCount) {
      shardCount = Math.max(Number(seen) || 1, 1);
      knownAt = now;
      writesSince = 0;
    },
    _sent: (now) => underWay.push(now),
    _answered(now) {
      if (isSlow(now)) knownAt = 0;
      underWay.shift();
    },
    _width: (now) => Math.min(isSlow(now) ? WIDEST * shardCount : shardCount, MAX_SHARDS),
    _nextTurn() {
      writesSince++;
      return turn++;
    },
  };
}

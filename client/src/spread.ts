/**
 * Over how many shards this client spreads its writes.
 *
 * It knows the shard count from a watch on the counter, else from a read that is kept for a while. A write that is slow to
 * be acknowledged, or still is not, hints at contention: the next ones ask for the shard count first, and spread over twice
 * as many. Not to wait for the acknowledgement matters: of a shard with a long queue it may never come. Who asks while the
 * counter grows asks again, for what it heard then is too little a moment later. Spreading too wide or too narrow is
 * always safe, because the total is the sum of every shard there is.
 */
import { MARK_SLOTS, MAX_SHARDS } from "../../core/src/index.ts";
import { BUSY_WRITES, SHARD_COUNT_TTL_MS, SLOW_ACK_MS, WIDEST } from "./patience.ts";

/** What one client knows of one counter. One per counter and Firestore instance; synchronous, no I/O. */
export interface Spread {
  /**
   * What speaks against what is known.
   *
   * @returns 0: nothing; 1: this client has written much since, so it should be read again, some time; 2: it is old, or of a
   *          counter that had just grown, or writes are slow, so it should be read before the next write
   */
  _doubt(): number;
  /**
   * The counter document was read.
   *
   * @param shardCount - what it says; anything but a number from 1 on is taken for 1. Left out if the read failed: what is
   *                    known stays, and is not asked for again at once
   * @param growing - whether it says that the counter has just grown. Left out by who will be told when it grows on
   */
  _learn(shardCount?: unknown, growing?: unknown): void;
  /** A write was sent. */
  _sent(): void;
  /** The oldest write under way was acknowledged, or has failed: writes of one client are answered in their order. */
  _answered(): void;
  /** Over how many shards to spread the next write. */
  _width(): number;
  /** The turn of the next write of this client, which decides the slot of its mark. */
  _nextTurn(): number;
}

/** @param clock - the time in milliseconds since the epoch, such as `Date.now` */
export function createSpread(random: () => number, clock: () => number): Spread {
  let shardCount = 1;
  let knownAt = 0;
  let writesSince = 0;
  const underWay: number[] = [];
  // Of nothing under way the sum is no number, and nothing is slow.
  const isSlow = () => (underWay[0] as number) + SLOW_ACK_MS < clock();
  let turn = Math.floor(random() * MARK_SLOTS);
  return {
    _doubt: () => (isSlow() || clock() - knownAt >= SHARD_COUNT_TTL_MS ? 2 : +(writesSince >= BUSY_WRITES)),
    _learn(seen = shardCount, growing) {
      shardCount = Math.max(Number(seen) || 1, 1);
      knownAt = growing ? 0 : clock();
      writesSince = 0;
    },
    _sent: () => underWay.push(clock()),
    _answered() {
      if (isSlow()) knownAt = 0;
      underWay.shift();
    },
    _width: () => Math.min(isSlow() ? WIDEST * shardCount : shardCount, MAX_SHARDS),
    _nextTurn() {
      writesSince++;
      return turn++;
    },
  };
}

/**
 * Over how many shards this client spreads its writes.
 *
 * It knows the shard count from a watch on the counter, else from a read that is kept for a while. A write that is
 * slow to be acknowledged hints at contention: the next ones spread over twice as many shards, while the count is
 * read anew. Spreading too wide or too narrow is always safe, because the total is the sum of every shard there is.
 */
import { MARK_SLOTS, MAX_SHARDS } from "../../core/src/index.ts";

/** How long a shard count that was read, not watched, is used before it is read again in the background. */
export const SHARD_COUNT_TTL_MS = 60_000;

/**
 * A busy writer looks again sooner, because it is part of what makes the counter grow: after this many writes of its
 * own, which keeps these reads below 2 % of what its writes cost, and at most every `BUSY_TTL_MS`.
 */
export const BUSY_WRITES = 20;
export const BUSY_TTL_MS = 2_000;

/** An acknowledgement slower than this hints at contention on the shard: several times an ordinary round trip. */
export const SLOW_ACK_MS = 1_000;

/** How much wider than the shard count a client spreads at most. */
const WIDEST = 2;

/** What one client knows of one counter. One per counter and Firestore instance; mutable, synchronous, no I/O. */
export class Spread {
  #shardCount: number | undefined;
  #knownAt = Number.NEGATIVE_INFINITY;
  #writesSince = 0;
  #factor = 1;
  #turn: number;

  constructor(random: () => number) {
    this.#turn = Math.floor(random() * MARK_SLOTS);
  }

  /** Whether what is known is too old to be used without asking again. */
  isStale(now: number): boolean {
    return now - this.#knownAt >= (this.#writesSince >= BUSY_WRITES ? BUSY_TTL_MS : SHARD_COUNT_TTL_MS);
  }

  /** The shard count of a counter document just seen; `undefined` if there is none yet. */
  learn(shardCount: unknown, now: number): void {
    const valid = Number.isInteger(shardCount) && (shardCount as number) >= 1;
    this.#shardCount = valid ? Math.min(shardCount as number, MAX_SHARDS) : 1;
    this.#knownAt = now;
    this.#writesSince = 0;
  }

  /** The read failed: what is known stays, and is not asked for again at once. */
  triedInVain(now: number): void {
    this.#knownAt = now;
    this.#writesSince = 0;
  }

  /** @returns whether the write was slow, so that the shard count should be read at once */
  acknowledged(tookMs: number): boolean {
    const slow = tookMs > SLOW_ACK_MS;
    this.#factor = slow ? WIDEST : Math.max(1, this.#factor * 0.9);
    return slow;
  }

  /** Over how many shards to spread the next write. */
  get width(): number {
    return Math.min(Math.ceil((this.#shardCount ?? 1) * this.#factor), MAX_SHARDS);
  }

  /** The turn of the next write of this client, which decides the slot of its mark. */
  nextTurn(): number {
    this.#writesSince++;
    return this.#turn++;
  }
}

/** How long a client goes by what it knows, and by what it sees that its writes are slow. Where they are used is spread.ts. */

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
export const WIDEST = 2;

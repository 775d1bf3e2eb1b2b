/** How long a client trusts what it knows, and how long it waits. In a file of their own the build puts them where they are used. */

/** How long a shard count that was read, not watched, is used before it is read again. */
export const SHARD_COUNT_TTL_MS = 120_000;

/**
 * A busy writer looks again sooner, because it is part of what makes the counter grow: after this many writes of its
 * own, which keeps these reads below 2 % of what its writes cost.
 */
export const SHARD_COUNT_TTL_WRITES = 20;

/** An acknowledgement that takes longer than this is a sign of contention: several times an ordinary round trip. */
export const SLOW_ACK_MS = 1_000;

/** Attempts to look an increment up, however long it takes: without an answer it is not known whether it counts. */
export const LOOKUP_ATTEMPTS = 1e9;

/** A commit ends at most this long after its server timestamp was taken. */
export const MAX_COMMIT_MS = 10_000;

/** Longer than the longest interval between two published totals, by default. */
export const MAX_PUBLISH_DELAY_MS = 15_000;

/** One increment in so many removes marks that are too old to matter. */
export const INCREMENTS_PER_MARK_REMOVAL = 128;

/**
 * Constants of the clients: how long they use what they have read, how long they wait, and how much wider they choose then. The build
 * replaces these names by their values.
 */

/** How long a client uses a shard count that it has read or that a watch has delivered, before it reads the count again. */
export const SHARD_COUNT_TTL_MS = 120_000;

/**
 * How many writes a client makes with a shard count that it has read before it reads the count again: a busy writer makes
 * the counter grow. These reads cost less than 2 % of the writes.
 */
export const SHARD_COUNT_TTL_WRITES = 20;

/** How long a client uses a count that has just grown or is missing, or that it has read while its writes are contended. */
export const SHORT_SHARD_COUNT_TTL_MS = 1_000;

/**
 * How long a write waits for a pending read of the shard count: of the first one, and of later ones. The first request of a connection
 * with round trips of two seconds takes eight: TCP, TLS, a preflight, and itself.
 */
export const FIRST_COUNT_TIMEOUT_MS = 8_000;
export const LATER_COUNT_TIMEOUT_MS = 1_000;

/**
 * A write is a sign of contention without an answer for this long, and for so many times as long as a read of the same client takes. On
 * a new connection a write takes up to four round trips: TCP, TLS, a preflight, and itself.
 */
export const SLOW_WRITE_MS = 2_000;
export const SLOW_WRITE_READS = 4;

/**
 * For each SLOW_WRITE_MS, or SLOW_WRITE_READS reads if longer, without an answer: the multiple of the shard count to choose from,
 * and the least number of shards.
 */
export const SLOW_FACTOR = 4;
export const SLOW_MIN_SHARDS = 64;

/** How long a slow answer affects the choice. */
export const SLOW_ANSWER_TTL_MS = 10_000;

/** A wait of this length or more proves nothing: the device is offline or asleep. */
export const OFFLINE_AFTER_MS = 10_000;

/** Each refused write multiplies the choice by this: a refusal arrives late, after seconds in a queue. */
export const REFUSED_FACTOR = 8;

/** The largest multiple of the shard count. */
export const MAX_FACTOR = 512;

/** Attempts to look an increment up: practically unlimited, because only an answer tells whether the increment counts. */
export const LOOKUP_ATTEMPTS = 1e9;

/** An assumption: a commit ends at most this long after its server timestamp. If it takes longer, a watch may dip once. */
export const MAX_COMMIT_MS = 10_000;

/**
 * If the last total may or may not include an increment, and no other total arrives for this long, a watch assumes that it does.
 * Longer than the default of `MAX_INTERVAL_SECONDS`.
 */
export const MAX_PUBLISH_DELAY_MS = 15_000;

/** Of the increments that the SDK's queue could send, one in this many is sent in a transaction, which removes expired marks. */
export const INCREMENTS_PER_MARK_REMOVAL = 20;

/** The functions look at one shard, for expired marks, for so many shard writes. */
export const WRITES_PER_MARK_CLEANING = 512;

/**
 * How many shards writers should spread over, given what was just measured.
 *
 * A saturated shard hides demand: it shows what it could take, not what was asked of it. So growth is at once and by
 * at least `GROWTH_FACTOR`; only shrinking waits for evidence. In between nothing changes, which is what keeps the
 * count from flapping:
 *
 *        shrink after the cool-down │      hold       │ grow at once
 *     0 ────────────────────────── 1/2 ───── 1 ───── 5/4 ─────────────→  rate / (shardCount × writesPerShard)
 *
 * A counter that nobody writes to at all shrinks sooner, since as long as it has many shards it is polled.
 *
 * Counts of independent writers vary by their square root: 100 writes per second, seen for a second, by 10 %. Growing
 * at 5/4 instead of 1 ignores that noise. A counter whose shards can take no more still gets there, because clients
 * spread over twice as many shards when their writes are slow.
 */
import type { Config, Millis } from "./config.ts";

/** Least growth of a counter whose shards are over their limit. */
const GROWTH_FACTOR = 1.5;

/** A counter is calm below this share of its capacity. */
const CALM = 0.5;

/** Above this share of its capacity a counter grows. */
const BUSY = 1.25;

/** How long nobody must have written for a counter to shrink before it has cooled down. */
const IDLE: Millis = 60_000;

/** The shard count, and since when the counter has been calm enough to shrink. */
export interface Scaling {
  readonly shardCount: number;
  /** `null` while the rate is not well below the capacity, or there is nothing to shrink. */
  readonly calmSince: Millis | null;
}

/**
 * @param rate      writes per second over the whole counter since the previous measurement
 * @param quietFor  how long before `now` the last write was
 * @param now       when the rate was measured
 * @returns         the scaling from now on; `shardCount` within `[minShards, maxShards]`
 */
export function decideScaling(rate: number, quietFor: Millis, scaling: Scaling, now: Millis, config: Config): Scaling {
  const clamp = (shards: number) => Math.min(Math.max(Math.ceil(shards), config.minShards), config.maxShards);
  const current = clamp(scaling.shardCount);
  const needed = rate / config.writesPerShard;
  if (needed > current * BUSY) return { shardCount: clamp(Math.max(needed, current * GROWTH_FACTOR)), calmSince: null };
  if (current === config.minShards || needed >= current * CALM) return { shardCount: current, calmSince: null };
  const calmSince = scaling.calmSince ?? now;
  if (now - calmSince < config.shrinkCooldown && quietFor < IDLE) return { shardCount: current, calmSince };
  return { shardCount: clamp(needed), calmSince: null };
}

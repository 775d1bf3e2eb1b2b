/**
 * How many shards writers should spread over, given what was just measured.
 *
 * A saturated shard hides demand, so a counter grows before its shards are saturated, at once, and beyond what is needed.
 * Shrinking waits for evidence:
 *
 *        shrink after the cool-down │      hold       │ grow at once
 *     0 ───────────────────────── 0.35 ───────────── 0.8 ───────────→  rate / (shardCount × writesPerShard)
 *
 * Either way the count becomes one and a half times what is needed, which is in between.
 *
 * A count of `n` independent writes has a standard deviation of `√n`, so `n` writes prove a demand of `n − 2.5 √n`. The
 * average rate and the writes since the last measurement are both reduced like this. If contention has created shards beyond
 * the count, the average is used unreduced.
 */
import type { Config, Millis } from "./config.ts";
import { type Demand, RATE_TIME_CONSTANT } from "./demand.ts";

/** Above this share of its capacity a counter grows. */
const GROW_ABOVE = 0.8;

/** A counter is calm below this share of its capacity. */
const SHRINK_BELOW = 0.35;

/** How many times the shards that are needed a counter gets. */
const HEADROOM = 1.5;

/** How many standard deviations of a count of writes may be chance. */
const SIGMAS = 2.5;

/** New shards beyond the count that prove contention. One may come from a writer with an old count. */
const CONTENTION_SHARDS = 2;

/** The shard count, and since when the counter has been calm enough to shrink. */
export interface Scaling {
  readonly shardCount: number;
  /** `null` while the rate is not well below the capacity, or there is nothing to shrink. */
  readonly calmSince: Millis | null;
}

/**
 * @param now    when the demand was measured
 * @param least  the fewest shards the counter may have now
 * @returns      the scaling from now on; `shardCount` within `[least, maxShards]`
 */
export function decideScaling(demand: Demand, scaling: Scaling, now: Millis, least: number, config: Config): Scaling {
  const { writesPerShard, maxShards, shrinkCooldown } = config;
  const clamp = (shards: number) => Math.min(Math.max(Math.round(shards), least), maxShards);
  const current = clamp(scaling.shardCount);
  const needed = requiredRate(demand, writesPerShard * current * GROW_ABOVE, current === least) / writesPerShard;
  if (needed > 0) return { shardCount: clamp(HEADROOM * needed), calmSince: null };
  const sustained = demand.rate / writesPerShard;
  if (current === least || sustained >= current * SHRINK_BELOW) return { shardCount: current, calmSince: null };
  const calmSince = scaling.calmSince ?? now;
  if (now - calmSince < shrinkCooldown) return { shardCount: current, calmSince };
  return { shardCount: Math.min(clamp(HEADROOM * sustained), current), calmSince: null };
}

/**
 * Writes per second to provide for; 0 if no lower bound exceeds `limit`. Contention, or the fewest shards, may hide demand:
 * then the estimate counts in full. Otherwise chance is subtracted: all of it at the limit, less above.
 */
function requiredRate({ rate, writes, within, beyond }: Demand, limit: number, isLeast: boolean): number {
  const isContended = beyond >= CONTENTION_SHARDS;
  const estimates = [
    // The average of a rate over so long varies as much as a count of writes over twice the time constant.
    { rate, writes: (2 * RATE_TIME_CONSTANT * rate) / 1_000, chance: isContended ? 0 : SIGMAS },
    { rate: (writes * 1_000) / within, writes, chance: SIGMAS },
  ];
  const needed = estimates.map((one) => {
    const certain = one.rate * (1 - one.chance / Math.sqrt(one.writes));
    if (!(certain > limit)) return 0;
    return isContended || isLeast ? one.rate : one.rate - (one.rate - certain) * (limit / certain);
  });
  return Math.max(...needed);
}

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
 * Counts of independent writers vary by their square root, so `n` writes are evidence of `n − 2.5 √n`: two and a half
 * standard deviations. That is asked of the average rate, and of what came at once. Where writers that met contention have
 * created shards beyond the count, the average is taken as it is.
 */
import type { Config, Millis } from "./config.ts";
import { type Demand, MEMORY } from "./demand.ts";

/** Above this share of its capacity a counter grows. */
const BUSY = 0.8;

/** A counter is calm below this share of its capacity. */
const CALM = 0.35;

/** How many times the shards that are needed a counter gets. */
const HEADROOM = 1.5;

/** How many standard deviations of a count of writes may be chance. */
const CHANCE = 2.5;

/** How many shards must have appeared at once beyond the count: one may be a writer that went by an old count. */
const CONTENDED = 2;

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
  const needed = neededShards(demand, writesPerShard * current * BUSY, current === least) / writesPerShard;
  if (needed > 0) return { shardCount: clamp(HEADROOM * needed), calmSince: null };
  const sustained = demand.rate / writesPerShard;
  if (current === least || sustained >= current * CALM) return { shardCount: current, calmSince: null };
  const calmSince = scaling.calmSince ?? now;
  if (now - calmSince < shrinkCooldown) return { shardCount: current, calmSince };
  return { shardCount: Math.min(clamp(HEADROOM * sustained), current), calmSince: null };
}

/**
 * What is needed; 0 if nothing is certain to be above a limit. Of shards in plenty that show no contention, demand is not
 * hidden: what may be chance is left out, the more of it the closer what is certain is to the limit.
 */
function neededShards({ rate, writes, within, beyond }: Demand, limit: number, isLeast: boolean): number {
  const isContended = beyond >= CONTENDED;
  const estimates = [
    // The average of a rate over so long varies as much as a count of writes over twice the time constant.
    { rate, writes: (2 * MEMORY * rate) / 1_000, chance: isContended ? 0 : CHANCE },
    { rate: (writes * 1_000) / within, writes, chance: CHANCE },
  ];
  const needed = estimates.map((one) => {
    const certain = one.rate * (1 - one.chance / Math.sqrt(one.writes));
    if (!(certain > limit)) return 0;
    return isContended || isLeast ? one.rate : one.rate - (one.rate - certain) * (limit / certain);
  });
  return Math.max(...needed);
}

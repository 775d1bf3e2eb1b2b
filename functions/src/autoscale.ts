/**
 * How many shards writers should spread over, given what was just measured.
 *
 * A saturated shard hides demand: it shows what it could take, not what was asked of it. So a counter grows before its
 * shards are saturated, at once, and beyond what is needed; only shrinking waits for evidence. In between nothing
 * changes, which is what keeps the count from flapping:
 *
 *        shrink after the cool-down │      hold       │ grow at once
 *     0 ───────────────────────── 0.35 ───────────── 0.8 ───────────→  rate / (shardCount × writesPerShard)
 *
 * Either way the count becomes one and a half times what is needed, which is in between. A counter that nobody writes to at
 * all shrinks sooner, since as long as it has many shards it is polled.
 *
 * After it has grown, a counter looks calm until its writers have found the new shards. For ten seconds that is not taken for
 * what is asked of it: it is measured again soon, and clients look again before they write.
 *
 * Counts of independent writers vary by their square root, so that two writes in a second are no reason for a second
 * shard: `n` writes are evidence of `n − 1.3 √n`. Unless a client has spread wider than the shard count, because its writes
 * were slow: a shard that takes one write per second never shows more, and one is never evidence enough. How the numbers were
 * found is in docs/performance.md.
 */
import type { Config, Millis } from "./config.ts";
import type { Demand } from "./demand.ts";

/** Above this share of its capacity a counter grows. */
const BUSY = 0.8;

/** A counter is calm below this share of its capacity. */
const CALM = 0.35;

/** How many times the shards that are needed a counter gets; and of those it has, when they are too few. */
const HEADROOM = 1.5;

/** How many standard deviations of a count of writes may be chance. */
const CHANCE = 1.3;

/** How long nobody must have written for a counter to shrink before it has cooled down. */
const IDLE: Millis = 60_000;

/** How long after it has grown a calm counter may be one whose writers have not found the new shards yet. */
const SETTLING: Millis = 10_000;

/** The shard count, and since when the counter has been calm enough to shrink. */
export interface Scaling {
  readonly shardCount: number;
  /** `null` while the rate is not well below the capacity, or there is nothing to shrink. */
  readonly calmSince: Millis | null;
  /** Whether it has just grown, and may grow on: what was measured says little of what is asked of it. */
  readonly growing: boolean;
}

/**
 * @param now  when the demand was measured
 * @returns    the scaling from now on; `shardCount` within `[minShards, maxShards]`
 */
export function decideScaling(demand: Demand, scaling: Scaling, now: Millis, config: Config): Scaling {
  const clamp = (shards: number) => Math.min(Math.max(Math.ceil(shards), config.minShards), config.maxShards);
  const current = clamp(scaling.shardCount);
  const shardsFor = (writes: number) => (writes * 1_000) / demand.within / config.writesPerShard;
  const needed = shardsFor(demand.writes);
  const chance = demand.isContended ? 0 : CHANCE * Math.sqrt(demand.writes);
  if (shardsFor(demand.writes - chance) > current * BUSY) {
    const shardCount = clamp(HEADROOM * Math.max(needed, current));
    return { shardCount, calmSince: null, growing: shardCount > current };
  }
  const settled = { shardCount: current, calmSince: null, growing: false };
  if (current === config.minShards || needed >= current * CALM) return settled;
  const calmSince = scaling.calmSince ?? now;
  if (now - calmSince >= config.shrinkCooldown || demand.quietFor >= IDLE)
    return { ...settled, shardCount: Math.min(clamp(HEADROOM * needed), current) };
  return { shardCount: current, calmSince, growing: scaling.growing && now - calmSince < SETTLING };
}

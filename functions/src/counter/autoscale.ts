/**
 * How many shards writers should spread over, given what was just measured.
 *
 * A saturated shard hides demand. So a counter grows before its shards are saturated, at once, and beyond what is needed.
 * Shrinking waits for evidence:
 *
 *        shrink after the cool-down │      hold       │ grow at once
 *     0 ───────────────────────── 0.35 ───────────── 0.7 ───────────→  rate / (shardCount × writesPerShard)
 *
 * Either way the new count is one and a half times what is needed, which lies in between.
 *
 * A count of `n` independent writes has a standard deviation of `√n`, so `n` writes prove a demand of `n − 2.5 √n`. This lower
 * bound decides whether a counter grows, by the average rate or by the writes since the last measurement. If contention has
 * created shards beyond the count, nothing is subtracted from the average. `requiredRate` says by how much the counter grows.
 *
 * A script can write to thousands of shards at once, and it is gone before writers spread over them. So each measurement lets a
 * counter grow 16-fold, or to 150 shards, and a burst that is over lets it grow no more. A crowd of 1,000 a second gets what it needs
 * as soon as without these bounds.
 */
import { type Demand, RATE_TIME_CONSTANT } from "./demand.ts";
import type { Millis } from "./time.ts";
import type { CounterSettings } from "./types.ts";

/**
 * A counter grows above this share of its capacity. Writers leave out the first eighth of the shards, so it is 0.8 of the capacity
 * in use.
 */
const GROW_ABOVE = 0.7;

/** A counter may shrink below this share of its capacity. */
const SHRINK_BELOW = 0.35;

/** A counter gets this many times the shards that it needs. */
const HEADROOM = 1.5;

/** How many times its shards a counter has after a measurement, at most. */
const MOST_GROWTH = 16;

/** How many shards any measurement may lead to: enough for 100 writes a second. */
const MOST_AT_FIRST = 150;

/** How many standard deviations of a count of writes may be chance. */
const SIGMAS = 2.5;

/** How many new shards beyond the count prove contention. One may come from a client with an old count. */
const PROVEN_CONTENTION = 2;

export interface Scaling {
  readonly shardCount: number;
  /** Since when the rate has been low enough to shrink; `null` while it is not, or the count is the fewest already. */
  readonly calmSince: Millis | null;
}

/**
 * @param now     when the demand was measured
 * @param fewest  how many shards the counter has at least
 * @returns       the scaling from now on; `shardCount` within `[fewest, maxShards]`
 */
export function decideScaling(
  demand: Demand,
  scaling: Scaling,
  now: Millis,
  fewest: number,
  config: CounterSettings,
): Scaling {
  const { writesPerShard, maxShards, shrinkCooldown } = config;
  const clamp = (shards: number) => Math.min(Math.max(Math.round(shards), fewest), maxShards);
  const current = clamp(scaling.shardCount);
  const needed = requiredRate(demand, writesPerShard * current * GROW_ABOVE, current === fewest) / writesPerShard;
  const most = Math.max(MOST_GROWTH * current, MOST_AT_FIRST);
  if (needed > 0) return { shardCount: clamp(Math.min(HEADROOM * needed, most)), calmSince: null };
  const sustained = demand.rate / writesPerShard;
  if (current === fewest || sustained >= current * SHRINK_BELOW) return { shardCount: current, calmSince: null };
  const calmSince = scaling.calmSince ?? now;
  if (now - calmSince < shrinkCooldown) return { shardCount: current, calmSince };
  return { shardCount: Math.min(clamp(HEADROOM * sustained), current), calmSince: null };
}

/**
 * Writes per second to provide for; 0 if no lower bound exceeds `limit`. Contention, or the fewest shards, may hide demand:
 * then the estimate counts in full. Otherwise chance is subtracted, and less the further the lower bound exceeds the
 * limit. With a limit of 10, an estimate of 16 and a lower bound of 12, 16 − 4 × 10/12 = 12.7 are required. An average above the
 * limit means nothing once the latest writes are below it.
 */
function requiredRate({ rate, writes, duration, contentionShards }: Demand, limit: number, isFewest: boolean): number {
  const isContended = contentionShards >= PROVEN_CONTENTION;
  const recent = (writes * 1_000) / duration;
  const estimates = [
    // An average with this time constant varies as much as a count of writes over twice the time constant.
    { rate, writes: (2 * RATE_TIME_CONSTANT * rate) / 1_000, sigmas: isContended ? 0 : SIGMAS },
    { rate: recent, writes, sigmas: SIGMAS },
  ];
  const required = estimates.map((estimate) => {
    const lowerBound = estimate.rate * (1 - estimate.sigmas / Math.sqrt(estimate.writes));
    if (!(lowerBound > limit) || recent < limit) return 0;
    if (isContended || isFewest) return estimate.rate;
    return estimate.rate - (estimate.rate - lowerBound) * (limit / lowerBound);
  });
  return Math.max(...required);
}

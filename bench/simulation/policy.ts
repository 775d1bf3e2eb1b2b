/**
 * How many shards: the functions' own decision, and one whose constants can be varied.
 *
 * As long as no constant is varied, `functions/src` decides. Varied ones go into a copy of the rule, which a test holds
 * equal to the original wherever the constants are.
 */
import { decideScaling, type Scaling } from "../../functions/src/autoscale.ts";
import type { Millis } from "../../functions/src/config.ts";
import { configOf, type Policy, SETTINGS, type Settings } from "./settings.ts";

const CONSTANTS = [
  "growthFactor",
  "busy",
  "calm",
  "noise",
  "memory",
  "headroom",
  "momentum",
] as const satisfies (keyof Policy)[];

/** What was seen since the previous measurement. */
export interface Observed {
  readonly writes: number;
  /** Writes per second. */
  readonly rate: number;
  /** The same, averaged over some time. */
  readonly lasting: number;
}

export function scale(observed: Observed, scaling: Scaling, now: Millis, settings: Settings): Scaling {
  if (CONSTANTS.every((name) => settings[name] === SETTINGS[name]))
    return decideScaling(observed.rate, scaling, now, configOf(settings));
  return scaleWith(observed, scaling, now, settings);
}

/** The rule of `decideScaling`, its constants being settings; and a rate that may be noise does not make a counter grow. */
export function scaleWith(
  { rate, writes, lasting }: Observed,
  scaling: Scaling,
  now: Millis,
  settings: Settings,
): Scaling {
  const { minShards, maxShards, writesPerShard, growthFactor, busy, calm, noise, shrinkCooldown } = settings;
  const { headroom, momentum, memory } = settings;
  const clamp = (shards: number) => Math.min(Math.max(Math.ceil(shards), minShards), maxShards);
  const current = clamp(scaling.shardCount);
  const needed = rate / writesPerShard;
  const steady = memory > 0 ? Math.min(lasting, rate) / writesPerShard : needed;
  const certain = steady * Math.max(1 - noise / Math.sqrt(Math.max(writes, 1)), 0);
  if (certain > current * busy) {
    const wanted = needed * headroom * Math.max(needed / current, 1) ** momentum;
    return { shardCount: clamp(Math.max(wanted, current * growthFactor)), calmSince: null };
  }
  if (current === minShards || needed >= current * calm) return { shardCount: current, calmSince: null };
  const calmSince = scaling.calmSince ?? now;
  if (now - calmSince < shrinkCooldown) return { shardCount: current, calmSince };
  return { shardCount: Math.min(clamp(needed * headroom), current), calmSince: null };
}

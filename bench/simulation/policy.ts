/**
 * What the functions decide from a measurement, with the constants of their policy as they are set.
 *
 * As long as none is varied, it is `functions/src` that decides. Varied ones go into a copy of the rule, which a test holds
 * equal to the original wherever the constants are.
 */
import type { Scaling } from "../../functions/src/autoscale.ts";
import type { Millis } from "../../functions/src/config.ts";
import type { Published } from "../../functions/src/counter.ts";
import { type Demand, demandOf } from "../../functions/src/demand.ts";
import { isSparse } from "../../functions/src/interval.ts";
import { type Measurement, WOKEN } from "../../functions/src/measure.ts";
import { nextPublished } from "../../functions/src/publish.ts";
import { configOf, type Policy, SETTINGS, type Settings } from "./settings.ts";

const CONSTANTS = [
  "growthFactor",
  "headroom",
  "busy",
  "calm",
  "idle",
  "noise",
  "settling",
  "firstRate",
] as const satisfies (keyof Policy)[];

/** What a counter becomes. */
export function published(
  previous: Published | undefined,
  measurement: Measurement,
  settings: Settings,
  wokenAt?: Millis,
): Published {
  const isVaried = CONSTANTS.some((name) => settings[name] !== SETTINGS[name]);
  if (isVaried) return publishedWith(previous, measurement, settings, wokenAt);
  return nextPublished(previous, measurement, configOf(settings), wokenAt);
}

/** The same, by the rule whose constants are settings. */
export function publishedWith(
  previous: Published | undefined,
  measurement: Measurement,
  settings: Settings,
  wokenAt?: Millis,
): Published {
  const { minShards, firstRate } = settings;
  const config = configOf(settings);
  const { shards, malformed } = measurement;
  const next = nextPublished(previous, measurement, config);
  const demand = demandOf(previous, measurement, firstRate > 0 ? wokenAt : undefined, config);
  const scaling = previous ?? { shardCount: minShards, calmSince: null, growing: false };
  const { shardCount, calmSince, growing } = scaleWith(demand, scaling, next.asOf, settings);
  const isSpread = [...shards.map(({ id }) => id), ...malformed].some((id) => !WOKEN.includes(id));
  const unsettled = shardCount > minShards || isSpread || !isSparse(next.rate, config);
  return { ...next, shardCount, calmSince, growing: growing || !previous, unsettled };
}

/** The rule of `decideScaling`, its constants being settings. */
export function scaleWith(
  { writes, within, quietFor, isContended }: Demand,
  scaling: Scaling,
  now: Millis,
  settings: Settings,
): Scaling {
  const { minShards, maxShards, writesPerShard, shrinkCooldown } = settings;
  const { growthFactor, busy, calm, idle, noise, headroom, settling } = settings;
  const clamp = (shards: number) => Math.min(Math.max(Math.ceil(shards), minShards), maxShards);
  const current = clamp(scaling.shardCount);
  const shardsFor = (some: number) => (some * 1_000) / within / writesPerShard;
  const needed = shardsFor(writes);
  const chance = isContended ? 0 : noise * Math.sqrt(writes);
  if (shardsFor(writes - chance) > current * busy) {
    const shardCount = clamp(Math.max(headroom * needed, growthFactor * current));
    return { shardCount, calmSince: null, growing: shardCount > current };
  }
  const settled = { shardCount: current, calmSince: null, growing: false };
  if (current === minShards || needed >= current * calm) return settled;
  const calmSince = scaling.calmSince ?? now;
  if (now - calmSince >= shrinkCooldown || quietFor >= idle)
    return { ...settled, shardCount: Math.min(clamp(headroom * needed), current) };
  return { shardCount: current, calmSince, growing: scaling.growing && now - calmSince < settling };
}

/** A counter as those see it who decide when to look again: if nobody is in a hurry, one that grew looks like any other. */
export function unhurried(counter: Published, { hurry }: Settings): Published {
  return hurry > 0 || !counter.growing ? counter : { ...counter, growing: false };
}

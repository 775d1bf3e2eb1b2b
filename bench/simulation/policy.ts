/**
 * What the functions decide from a measurement, with the constants of their policy as they are set.
 *
 * As long as none is varied, it is `functions/src` that decides. Varied ones go into a copy of the rule, which a test holds
 * equal to the original wherever the constants are.
 */
import type { Scaling } from "../../functions/src/autoscale.ts";
import type { Config, Millis } from "../../functions/src/config.ts";
import { type Published, toMillis } from "../../functions/src/counter.ts";
import { isSparse, publishInterval } from "../../functions/src/interval.ts";
import { type Measurement, WOKEN } from "../../functions/src/measure.ts";
import { isPolled, outlookOf } from "../../functions/src/outlook.ts";
import { nextPublished } from "../../functions/src/publish.ts";
import type { CounterDocument } from "./counter.ts";
import { configOf, type Policy, SETTINGS, type Settings } from "./settings.ts";

const CONSTANTS = [
  "growthFactor",
  "busy",
  "calm",
  "idle",
  "noise",
  "firstRate",
  "headroom",
] as const satisfies (keyof Policy)[];

/** What was seen since the previous measurement. */
export interface Observed {
  readonly writes: number;
  /** Writes per second. */
  readonly rate: number;
  /** How long before the measurement the last write was. */
  readonly quietFor: Millis;
}

/** What a counter becomes. */
export function published(
  previous: CounterDocument | undefined,
  measurement: Measurement,
  settings: Settings,
): CounterDocument {
  const isVaried = CONSTANTS.some((name) => settings[name] !== SETTINGS[name]);
  if (isVaried) return publishedWith(previous, measurement, settings);
  return grown(previous, nextPublished(previous, measurement, configOf(settings)), settings);
}

/** The same, by the rule whose constants are settings. */
export function publishedWith(
  previous: CounterDocument | undefined,
  measurement: Measurement,
  settings: Settings,
): CounterDocument {
  const next = nextPublished(previous, measurement, configOf(settings));
  const since = settings.firstRate > 0 ? asleepUntil(previous, measurement, settings) : undefined;
  const writes = next.writes - (previous?.writes ?? (since === undefined ? next.writes : 0));
  const burst = since === undefined ? 0 : (writes * 1_000) / Math.max(next.asOf - since, settings.minInterval);
  const observed = { writes, rate: Math.max(next.rate, burst), quietFor: quietFor(measurement) };
  return rescaled(previous, next, measurement, settings, (before) => scaleWith(observed, before, next.asOf, settings));
}

/** The same counter with another decision about its shards. */
export function rescaled(
  previous: CounterDocument | undefined,
  next: Published,
  { shards, malformed }: Measurement,
  settings: Settings,
  decide: (scaling: Scaling) => Scaling,
): CounterDocument {
  const { minShards } = settings;
  const { shardCount, calmSince } = decide(previous ?? { shardCount: minShards, calmSince: null });
  const isSpread = [...shards.map(({ id }) => id), ...malformed].some((id) => !WOKEN.includes(id));
  const unsettled = shardCount > minShards || isSpread || !isSparse(next.rate, configOf(settings));
  return grown(previous, { ...next, shardCount, calmSince, unsettled }, settings);
}

function grown(previous: CounterDocument | undefined, next: Published, { minShards }: Settings): CounterDocument {
  return { ...next, isGrowing: next.shardCount > (previous?.shardCount ?? minShards) };
}

/** The rule of `decideScaling`, its constants being settings; and a rate that may be noise does not make a counter grow. */
export function scaleWith(
  { rate, writes, quietFor }: Observed,
  scaling: Scaling,
  now: Millis,
  settings: Settings,
): Scaling {
  const { minShards, maxShards, writesPerShard, shrinkCooldown } = settings;
  const { growthFactor, busy, calm, idle, noise, headroom } = settings;
  const clamp = (shards: number) => Math.min(Math.max(Math.ceil(shards), minShards), maxShards);
  const current = clamp(scaling.shardCount);
  const needed = rate / writesPerShard;
  const certain = needed * Math.max(1 - noise / Math.sqrt(Math.max(writes, 1)), 0);
  if (certain > current * busy)
    return { shardCount: clamp(Math.max(needed * headroom, current * growthFactor)), calmSince: null };
  if (current === minShards || needed >= current * calm) return { shardCount: current, calmSince: null };
  const calmSince = scaling.calmSince ?? now;
  if (now - calmSince < shrinkCooldown && quietFor < idle) return { shardCount: current, calmSince };
  return { shardCount: Math.min(clamp(needed * headroom), current), calmSince: null };
}

/** By which configuration a counter's interval follows: that of all, but for those that have just grown, or are small. */
export function configFor(counter: CounterDocument, settings: Settings): Config {
  const config = configOf(settings);
  const { hurry, fresh, freshBudget, smallShards } = settings;
  if (hurry > 0 && counter.isGrowing) return { ...config, maxInterval: config.minInterval };
  if (fresh === 0 || counter.shardCount >= smallShards) return config;
  const affordable = publishInterval(counter, { ...config, minInterval: 0, maxInterval: Infinity, precision: 0 });
  const enough = (config.budget * affordable) / fresh;
  return { ...config, budget: Math.max(Math.min(enough, freshBudget), config.budget) };
}

function quietFor({ asOf, shards }: Measurement): Millis {
  return toMillis(asOf) - shards.reduce((last, { updatedAt }) => Math.max(last, toMillis(updatedAt)), 0);
}

/**
 * Since when what is new was written, if nobody was to look at the counter meanwhile: that tells more of the rate than the
 * time since the last publish does.
 */
function asleepUntil(
  previous: CounterDocument | undefined,
  { asOf, shards }: Measurement,
  settings: Settings,
): Millis | undefined {
  const now = toMillis(asOf);
  const config = configOf(settings);
  if (previous) {
    const { due } = outlookOf(previous, 0, config);
    if (now <= due + config.minInterval || isPolled({ ...previous, silentShards: 0 }, config)) return undefined;
  }
  const since = previous?.asOf ?? 0;
  return shards.reduce((first, { updatedAt }) => {
    const at = toMillis(updatedAt);
    return at > since ? Math.min(first, at) : first;
  }, now);
}

/** How the shards of a counter are used: as deployed, unless a feature says otherwise. */
import { MAX_LISTED_SHARDS } from "./shards.ts";
import type { CounterConfig, CounterState, ShardSettings } from "./types.ts";

export function shardSettingsOf(state: Partial<CounterState>, config: CounterConfig): ShardSettings {
  const { minShards, maxShards, plans } = config;
  const deployed = {
    minShards,
    maxShards,
    mostListed: MAX_LISTED_SHARDS,
    foldsOnlyEmpty: false,
    keptShards: 1,
    triggerShards: 1,
  };
  return Object.assign(deployed, ...plans.map((feature) => feature.shardSettings?.(state, config)));
}

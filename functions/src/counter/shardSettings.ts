/** How the shards of a counter are used: as deployed, unless a feature says otherwise. */
import { MAX_LISTED_SHARDS } from "./shards.ts";
import { type CounterConfig, type CounterState, changedBy, type ShardSettings } from "./types.ts";

export function shardSettingsOf(state: Partial<CounterState>, config: CounterConfig): ShardSettings {
  const { minShards, maxShards, plans } = config;
  const deployed: ShardSettings = {
    minShards,
    maxShards,
    mostListed: MAX_LISTED_SHARDS,
    foldsOnlyEmpty: false,
    keptShards: 1,
    triggerShards: 1,
  };
  return changedBy(
    deployed,
    plans.map((feature) => feature.shardSettings?.(state, config)),
  );
}

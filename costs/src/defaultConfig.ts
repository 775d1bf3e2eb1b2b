/** The configuration of a deployment that keeps every default. A test compares the two. */
import { MAX_SHARDS } from "../../core/src/index.ts";
import type { Config } from "../../functions/src/decisions.ts";

export const DEFAULT_CONFIG: Config = {
  collection: "counters",
  minShards: 1,
  maxShards: MAX_SHARDS,
  writesPerShard: 1,
  shrinkCooldown: 600_000,
  minInterval: 1_000,
  maxInterval: 10_000,
  precision: 0.001,
  counted: undefined,
  mirrors: [],
  historyRetention: 30 * 86_400_000,
};

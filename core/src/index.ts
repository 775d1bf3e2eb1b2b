export { CounterError, type CounterErrorCode } from "./errors.ts";
export {
  BASE_SHARD,
  type CounterDocument,
  counterPath,
  DEFAULT_COLLECTION,
  groupOf,
  MARK_SLOTS,
  MAX_SHARDS,
  SHARDS,
  type ShardDocument,
  shardPath,
  shardsPath,
} from "./layout.ts";
export { type Random, randomShard, shardForKey } from "./shardSelection.ts";
export { isCount, sumOfCounts } from "./sum.ts";
export { documentIdProblem, validAmount, validCollection, validCounterId, validShardKey } from "./validation.ts";
export { type IncrementPlan, isCommitted, planIncrement } from "./writePlan.ts";

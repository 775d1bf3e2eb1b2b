/**
 * The decisions of the backend, for the modules that reckon with them: costs, the CLI and the simulator of load. All of
 * them are pure, and none imports Firebase or Node.
 */

export type { AggregateResult } from "./counter/aggregate.ts";
export { decideScaling } from "./counter/autoscale.ts";
export type { Cause, ScheduledTask } from "./counter/cause.ts";
export { decide, isAnswered } from "./counter/decide.ts";
export { CALM_RATE, CLOSED_TIME, type DirectChange, directChange, FAST_GENERATION } from "./counter/direct.ts";
export { isPollLost, publishInterval } from "./counter/interval.ts";
export { CLEANING, expiredSlots, shardsToClean } from "./counter/markCleaning.ts";
export { type Measurement, shardsBeyond } from "./counter/measurement.ts";
export { nextPhase, POLLED_PHASES, pollDelay } from "./counter/phase.ts";
export { FOLD_PAGE_SIZE, foldableShards, MAX_LISTED_SHARDS, shardIndex, TRIGGER_SHARDS } from "./counter/shards.ts";
export { isListedFor, LONGEST_SUM } from "./counter/slowSums.ts";
export type { Millis } from "./counter/time.ts";
export type { CounterConfig, Direct, Edition, Published } from "./counter/types.ts";
export { EDITIONS, settingsOn } from "./deploy/counterPlan.ts";
export { type DeclaredFunction, FUNCTIONS, isAskedFor } from "./deploy/functions.ts";
export {
  COUNTING_DEFAULTS,
  checkParameters,
  DEFAULT_SETTINGS,
  groupsThatNeedPublishes,
  parseConfig,
} from "./deploy/parameters.ts";
export { looksLikeRegion, MULTI_REGIONS, REGIONS, regionsNear } from "./deploy/regions.ts";
export { ACT_AS, neededRoles } from "./deploy/roles.ts";
export type { Role, Settings } from "./shared/feature.ts";
export { areAny, isGroup } from "./shared/groups.ts";
export { isEmail, listItems, type ParameterValues } from "./shared/parameters.ts";

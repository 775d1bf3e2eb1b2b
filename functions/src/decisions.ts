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
export { expiredWindows, LOOKS, shardsToLookAt } from "./counter/markLooks.ts";
export { type Measurement, shardsBeyond } from "./counter/measurement.ts";
export { nextPhase, POLLED_PHASES, pollDelay } from "./counter/phase.ts";
export { FOLD_PAGE_SIZE, foldableShards, MAX_LISTED_SHARDS, shardIndex, TRIGGER_SHARDS } from "./counter/shards.ts";
export { isListedFor, LONGEST_SUM } from "./counter/slowSums.ts";
export type { Millis } from "./counter/time.ts";
export type { Direct, Edition, Published } from "./counter/types.ts";
export { DEFAULT_SETTINGS, EDITIONS, type Settings, settingsOn } from "./deploy/config.ts";
export { FUNCTIONS, type FunctionName } from "./deploy/functionNames.ts";
export { isEmail, listItems } from "./deploy/parameterValue.ts";
export { DEFAULT_PARAMETERS, type ParameterValues, parseConfig } from "./deploy/parseConfig.ts";
export { looksLikeRegion, MULTI_REGIONS, REGIONS, regionsNear } from "./deploy/regions.ts";
export { ACT_AS, neededRoles, PUBLISHER, type Role } from "./deploy/roles.ts";
export type { Config } from "./features/config.ts";
export { areAny, isGroup } from "./features/groups.ts";
export { historyWrites } from "./features/history/history.ts";
export { groupsThatNeedPublishes } from "./features/needsPublishes.ts";
export { intervalsOf } from "./features/regions/intervals.ts";

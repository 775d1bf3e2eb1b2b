/**
 * The decisions of the backend, for the modules that reckon with them: costs, the CLI and the simulator of load. All of
 * them are pure, and none imports Firebase or Node.
 */
export type { AggregateResult } from "./aggregate.ts";
export { decideScaling } from "./autoscale.ts";
export { beginsCounter, type Cause } from "./cause.ts";
export { type Config, DEFAULT_CONFIG } from "./config.ts";
export type { Published } from "./counterDocument.ts";
export { decide, isAnswered, type ScheduledTask } from "./decide.ts";
export { historyWrites } from "./history.ts";
export { isPollLost, publishInterval } from "./interval.ts";
export { type Measurement, shardsBeyond } from "./measurement.ts";
export { DEFAULT_PARAMETERS, type ParameterValues, parseConfig } from "./parseConfig.ts";
export { nextPhase, POLLED_PHASES, pollDelay } from "./phase.ts";
export { FOLD_PAGE_SIZE, foldableShards, MAX_LISTED_SHARDS, shardIndex, TRIGGER_SHARDS } from "./shards.ts";
export type { Millis } from "./time.ts";

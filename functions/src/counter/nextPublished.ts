/** What the next publish holds: its total, shard count and phase, when the counter is polled next, and the fields of features. */
import { differenceBeyondRounding } from "../../../core/src/index.ts";
import { decideScaling } from "./autoscale.ts";
import type { Cause } from "./cause.ts";
import { averageRate, type Demand, demandOf, recentRate, writesSoFar } from "./demand.ts";
import { shardTotalOf } from "./direct.ts";
import { publishInterval } from "./interval.ts";
import { hasSilentShards, type Measurement } from "./measurement.ts";
import { type Activity, isQuiet, nextPhase, pollDelay } from "./phase.ts";
import { shardSettingsOf } from "./shardSettings.ts";
import { type Millis, toMillis } from "./time.ts";
import {
  byName,
  type CorePublished,
  type CounterConfig,
  type CounterSettings,
  type FeatureFields,
  type KnownState,
  type MeasuredState,
  type PlannedPublish,
  type Published,
  type Reserved,
  type ShardSettings,
} from "./types.ts";
import { timeToFold, unusedSinceAfter } from "./unusedShards.ts";

/** The next publish with the fields of all features. */
export function planPublish(
  cause: Cause,
  state: KnownState,
  measurement: Measurement,
  config: CounterConfig,
): PlannedPublish & { readonly next: Published } {
  const settings = shardSettingsOf(state, config);
  const measured = { ...state, measurement, settings, added: addedSince(state, measurement) };
  const next = nextPublished(cause, measured, config);
  const planned = { ...measured, next };
  return {
    ...planned,
    next: {
      ...next,
      ...byName<FeatureFields>(config.plans.map((plan) => [plan.name, plan.fieldsAfter?.(planned, config)])),
    },
  };
}

function nextPublished(cause: Cause, state: MeasuredState, config: CounterConfig): CorePublished {
  const { previous, direct, measurement, settings, added } = state;
  const { documents, collectionCount = null, slowSince = null } = measurement;
  const directCount = collectionCount ? 0 : (direct?.count ?? 0);
  const total = measurement.total + directCount;
  const asOf = toMillis(measurement.asOf);
  const writes = writesSoFar(previous, measurement);
  const fewest = fewestShards(state.reservation, asOf, settings);
  const demand = demandOf(cause, previous, measurement, fewest, config);
  const scaled = scale(demand, previous, measurement, fewest, { ...config, ...settings });
  // After growth the average lags, so the rate since the last measurement applies if it is higher.
  const rate = scaled.isGrown ? Math.max(demand.rate, recentRate(demand)) : demand.rate;
  const amountRate = previous ? averageRate(previous.amountRate, Math.abs(added), asOf - previous.asOf) : 0;
  const activity: Activity = {
    isWritten: writes !== (previous?.writes ?? 0) || measurement.total !== shardTotalOf(previous),
    quietFor: quietFor(previous, asOf),
    rate,
    interval: publishInterval(
      { total, rate, amountRate, collectionCount, slowSince, shardDocuments: documents },
      config,
    ),
    hasSilentShards: hasSilentShards(measurement, settings.triggerShards),
  };
  const kept = previous && !cause.isPoll && keepsPhase(previous, activity, asOf) ? previous : undefined;
  const phase = kept?.phase ?? nextPhase(previous?.phase, activity, config);
  // With a shard count above 1, polls stay frequent. So a quiet counter shrinks without waiting for the cool-down.
  const shardCount = phase === "shrunk" || phase === "cooling" ? fewest : scaled.shardCount;
  const calmSince = isQuiet(phase) ? asOf - activity.quietFor : scaled.calmSince;
  const known = { phase, shardCount, calmSince, asOf, shardDocuments: documents };
  const unusedSince = unusedSinceAfter(cause, state, known, config);
  const isFoldDue = timeToFold({ ...known, unusedSince }, config) <= 0;
  const delay = pollDelay(phase, { ...activity, shardCount, isFoldDue }, config);
  return {
    total,
    directCount,
    shardCount,
    // A burst on a new counter makes it grow a moment later.
    growing: scaled.isGrown || (!previous && !collectionCount),
    writes,
    // The average, which the next publish goes on from.
    rate: demand.rate,
    amountRate,
    publishes: (previous?.publishes ?? 0) + 1,
    asOf,
    phase,
    // Whole milliseconds: the task must be due at the very instant that the document names.
    nextPollAt: kept ? postponed(kept, asOf + activity.interval) : delay === undefined ? null : Math.ceil(asOf + delay),
    calmSince,
    unusedSince,
    shardDocuments: documents,
    slowSince,
    malformedShards: measurement.malformed ?? previous?.malformedShards ?? [],
    collectionCount,
  };
}

/** The sum of the increments on shards since the last publish. */
function addedSince({ previous, adjusted = 0 }: KnownState, measurement: Measurement): number {
  const { total, collectionCount, imported = 0 } = measurement;
  // The last publish measured something else, so the difference is no increment.
  if (previous && previous.collectionCount?.path !== collectionCount?.path) return 0;
  const before = shardTotalOf(previous) + (collectionCount ? 0 : adjusted + imported);
  return differenceBeyondRounding(total, before, Math.abs(total) + Math.abs(before));
}

/** How many shards the counter has at least: as deployed, or as reserved now. */
function fewestShards(
  reservation: Reserved | undefined,
  asOf: Millis,
  { minShards, maxShards }: ShardSettings,
): number {
  const reserved = reservation && asOf < reservation.until ? reservation.shards : 0;
  return Math.min(Math.max(minShards, reserved), maxShards);
}

/** The scaling that the demand calls for. */
function scale(
  demand: Demand,
  previous: Published | undefined,
  { collectionCount, asOf }: Measurement,
  fewest: number,
  config: CounterSettings,
) {
  const before = previous ?? { shardCount: fewest, calmSince: null };
  const { shardCount, calmSince } = collectionCount
    ? { shardCount: fewest, calmSince: null }
    : decideScaling(demand, before, toMillis(asOf), fewest, config);
  // A reservation alone is not growth.
  return { shardCount, calmSince, isGrown: shardCount > Math.max(before.shardCount, fewest) };
}

/** The poll of a kept phase. It cannot come before the next publish is due. */
function postponed({ nextPollAt }: Published, due: Millis): Millis | null {
  return nextPollAt === null ? null : Math.max(nextPollAt, Math.ceil(due));
}

/** How long a quiet counter has had no writes; 0 in the other phases. */
function quietFor(previous: Published | undefined, asOf: Millis): Millis {
  return previous && isQuiet(previous.phase) ? asOf - (previous.calmSince ?? asOf) : 0;
}

/**
 * Whether a measurement for an event leaves phase and poll as they are. A late or repeated event finds nothing new, which does
 * not prove that writing has stopped. A poll proves it, or an event after the poll was due; for an idle counter, any event.
 */
function keepsPhase({ nextPollAt }: Published, { isWritten, hasSilentShards }: Activity, asOf: Millis): boolean {
  return !isWritten && (nextPollAt === null ? !hasSilentShards : nextPollAt > asOf);
}

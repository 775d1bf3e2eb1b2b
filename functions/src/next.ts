/** What a counter becomes with a measurement: its total, its shard count, its phase, and when it is measured next. */
import { decideScaling } from "./autoscale.ts";
import type { Config, Millis } from "./config.ts";
import { type Published, type Reserved, toMillis } from "./counterDocument.ts";
import { type Demand, nextRate, rateOf } from "./demand.ts";
import { isMinuteInHistory } from "./history.ts";
import { type Cause, dueOf, publishInterval } from "./interval.ts";
import type { Measurement } from "./measure.ts";
import { isQuiet, nextPhase, type Phase, pollAfter } from "./phase.ts";
import { hasSilentShards, shardsBeyond, TRIGGER_SHARDS } from "./shards.ts";

/** What is known of the counter before. */
export interface Before {
  /** The last publish; `undefined` if there was none. */
  readonly previous: Published | undefined;
  readonly reservation?: Reserved | undefined;
}

export function nextPublished(
  cause: Cause,
  { previous, reservation }: Before,
  measurement: Measurement,
  config: Config,
): Published {
  const { total, documents, counted } = measurement;
  const asOf = toMillis(measurement.asOf);
  const writes = writesBy(previous, measurement);
  const demand = demandOf(cause, previous, measurement, config);
  const reservedShards = reservation && asOf < reservation.until ? reservation.shards : 0;
  const least = Math.min(Math.max(config.minShards, reservedShards), config.maxShards);
  const before = previous ?? { shardCount: least, calmSince: null };
  const scaled = counted ? { shardCount: least, calmSince: null } : decideScaling(demand, before, asOf, least, config);
  // After growth the average lags, so the rate since the last measurement applies if it is higher. A reservation alone is
  // not growth.
  const isGrown = scaled.shardCount > Math.max(before.shardCount, least);
  const rate = isGrown ? Math.max(demand.rate, rateOf(demand)) : demand.rate;
  const reads = counted?.reads ?? 0;
  const interval = publishInterval(total, rate, reads, config);
  const isWritten = writes !== (previous?.writes ?? 0) || total !== (previous?.total ?? 0);
  const isSilent = hasSilentShards(measurement);
  const quiet = quietFor(previous, asOf);
  // Only a poll, or an event once it is due, may conclude that nothing was written: events come late, or twice.
  const isUnmoved =
    previous !== undefined &&
    !isWritten &&
    !cause.isPoll &&
    (previous.nextPollAt === null ? !isSilent : previous.nextPollAt > asOf);
  const activity = { isWritten, quietFor: quiet, rate, interval, hasSilentShards: isSilent };
  const phase = isUnmoved ? previous.phase : nextPhase(previous?.phase, activity, config);
  // With a shard count above 1, polls stay frequent. So a quiet counter shrinks without waiting for the cool-down.
  const shardCount = phase === "shrunk" || phase === "cooling" ? least : scaled.shardCount;
  const delay = pollAfter(phase, { ...activity, shardCount }, config);
  return {
    total,
    shardCount,
    growing: isGrown,
    writes,
    rate: demand.rate,
    publishes: (previous?.publishes ?? 0) + 1,
    asOf,
    phase,
    // Whole milliseconds: the poll must be for the very instant that is read from the document.
    nextPollAt: isUnmoved ? previous.nextPollAt : delay === undefined ? null : Math.ceil(asOf + delay),
    calmSince: isQuiet(phase) ? asOf - quiet : scaled.calmSince,
    shardDocuments: documents,
    minuteInHistory: isMinuteInHistory(previous, { rate: demand.rate, asOf }, config),
    malformedShards: measurement.malformed ?? previous?.malformedShards ?? [],
    countReads: reads,
    countedCollection: counted?.path ?? null,
  };
}

/** For how long nothing has been written to a counter that was quiet already; 0 for any other. */
function quietFor(previous: Published | undefined, asOf: Millis): Millis {
  return previous && isQuiet(previous.phase) ? asOf - (previous.calmSince ?? asOf) : 0;
}

/** Phases in which a write wakes the counter, since writers know of no silent shard. */
const WOKEN_BY_WRITES: readonly Phase[] = ["idle", "shrunk", "cooling"];

/** What comes within less time, such as what a device has kept while it was offline, says nothing of a rate. */
const SHORTEST_BURST: Millis = 250;

function demandOf(
  { at, shardId, isPoll, isNew }: Cause,
  previous: Published | undefined,
  measurement: Measurement,
  config: Config,
): Demand {
  const asOf = toMillis(measurement.asOf);
  const appeared = measurement.documents - (previous?.shardDocuments ?? 0);
  const beyond = Math.min(appeared, shardsBeyond(measurement, previous?.shardCount ?? config.minShards));
  const woken = Math.max(asOf - at, SHORTEST_BURST);
  if (!previous) {
    // Of a counter that was written before it was ever measured, it is not known since when.
    const isFirst = isNew === true && shardId === TRIGGER_SHARDS[0];
    return { rate: 0, writes: isFirst ? measurement.writes : 0, within: woken, beyond };
  }
  const since = Math.max(asOf - previous.asOf, 1);
  const writes = writesBy(previous, measurement) - previous.writes;
  const slept =
    !isPoll && WOKEN_BY_WRITES.includes(previous.phase) && at > dueOf(previous, config) + config.minInterval;
  return { rate: nextRate(previous.rate, writes, since), writes, within: slept ? woken : since, beyond };
}

/**
 * Writes so far. For a counted collection a lower bound: a creation and a deletion between measurements cancel out. Only
 * the rate uses it.
 */
function writesBy(previous: Published | undefined, { counted, total, writes }: Measurement): number {
  if (!counted) return Math.max(writes, previous?.writes ?? 0);
  if (!previous) return total;
  // An ordinary counter before, it may have held any number.
  const moved = Math.abs(total - previous.total);
  return previous.writes + (Number.isSafeInteger(moved) ? moved : 0);
}

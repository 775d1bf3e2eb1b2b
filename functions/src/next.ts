/** What a counter becomes with a measurement: its total, its shard count, its phase, and when it is measured next. */
import { decideScaling } from "./autoscale.ts";
import type { Config, Millis } from "./config.ts";
import { type Published, type Reserved, toMillis } from "./counterDocument.ts";
import { type Demand, nextRate, rateOf } from "./demand.ts";
import { isBusyMinute } from "./history.ts";
import { type Cause, dueOf, publishInterval } from "./interval.ts";
import type { Measurement } from "./measure.ts";
import { isQuiet, nextPhase, type Phase, pollAfter } from "./phase.ts";
import { hasSilentShards, shardsBeyond, TRIGGER_SHARDS } from "./shards.ts";

/** What is known of the counter before. */
export interface Before {
  /** The last publish; `undefined` if there was none. */
  readonly previous: Published | undefined;
  readonly reserved?: Reserved | undefined;
}

export function nextPublished(
  cause: Cause,
  { previous, reserved }: Before,
  measurement: Measurement,
  config: Config,
): Published {
  const { total, documents, counted } = measurement;
  const asOf = toMillis(measurement.asOf);
  const writes = writesBy(previous, measurement);
  const demand = demandOf(cause, previous, measurement, config);
  const reservedShards = reserved && asOf < reserved.until ? reserved.shards : 0;
  const least = Math.min(Math.max(config.minShards, reservedShards), config.maxShards);
  const before = previous ?? { shardCount: least, calmSince: null };
  const scaled = counted ? { shardCount: least, calmSince: null } : decideScaling(demand, before, asOf, least, config);
  // What a counter has grown for is the rate until the average has come there: it wants the shortest interval now. A
  // reservation is no demand.
  const isGrown = scaled.shardCount > Math.max(before.shardCount, least);
  const rate = isGrown ? Math.max(demand.rate, rateOf(demand)) : demand.rate;
  const reads = counted?.reads ?? 0;
  const interval = publishInterval(total, rate, reads, config);
  const isWritten = writes !== (previous?.writes ?? 0) || total !== (previous?.total ?? 0);
  const isSilent = hasSilentShards(measurement);
  const quiet = quietFor(previous, asOf);
  // That nothing was written is only said by a poll, or in place of one that is due: an event may come late, or twice.
  const isUnmoved =
    previous !== undefined &&
    !isWritten &&
    !cause.isPoll &&
    (previous.nextAt === null ? !isSilent : previous.nextAt > asOf);
  const activity = { isWritten, quietFor: quiet, rate, interval, hasSilentShards: isSilent };
  const phase = isUnmoved ? previous.phase : nextPhase(previous?.phase, activity, config);
  // A quiet counter is polled as long as it has many shards, so it shrinks without cooling down.
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
    nextAt: isUnmoved ? previous.nextAt : delay === undefined ? null : Math.ceil(asOf + delay),
    calmSince: isQuiet(phase) ? asOf - quiet : scaled.calmSince,
    documents,
    busyMinute: isBusyMinute(previous, { rate: demand.rate, asOf }, config),
    malformed: measurement.malformed ?? previous?.malformed ?? [],
    reads,
    counts: counted?.path ?? null,
  };
}

/** For how long nothing has been written to a counter that was quiet already; 0 for any other. */
function quietFor(previous: Published | undefined, asOf: Millis): Millis {
  return previous && isQuiet(previous.phase) ? asOf - (previous.calmSince ?? asOf) : 0;
}

/** Phases in which a write wakes the counter, since writers know of no silent shard. */
const ASLEEP: readonly Phase[] = ["idle", "shrunk", "cooling"];

/** What comes within less time, such as what a device has kept while it was offline, says nothing of a rate. */
const SHORTEST: Millis = 250;

function demandOf(
  { at, shardId, isPoll, isNew }: Cause,
  previous: Published | undefined,
  measurement: Measurement,
  config: Config,
): Demand {
  const asOf = toMillis(measurement.asOf);
  const appeared = measurement.documents - (previous?.documents ?? 0);
  const beyond = Math.min(appeared, shardsBeyond(measurement, previous?.shardCount ?? config.minShards));
  const woken = Math.max(asOf - at, SHORTEST);
  if (!previous) {
    // Of a counter that was written before it was ever measured, it is not known since when.
    const isFirst = isNew === true && shardId === TRIGGER_SHARDS[0];
    return { rate: 0, writes: isFirst ? measurement.writes : 0, within: woken, beyond };
  }
  const since = Math.max(asOf - previous.asOf, 1);
  const writes = writesBy(previous, measurement) - previous.writes;
  const slept = !isPoll && ASLEEP.includes(previous.phase) && at > dueOf(previous, config) + config.minInterval;
  return { rate: nextRate(previous.rate, writes, since), writes, within: slept ? woken : since, beyond };
}

/**
 * How many writes there have been. Of a collection, at least as many as its count has moved by: a creation and a deletion
 * since the last measurement cancel out. It feeds the rate; no instant is taken for covered because of it.
 */
function writesBy(previous: Published | undefined, { counted, total, writes }: Measurement): number {
  if (!counted) return Math.max(writes, previous?.writes ?? 0);
  if (!previous) return total;
  // An ordinary counter before, it may have held any number.
  const moved = Math.abs(total - previous.total);
  return previous.writes + (Number.isSafeInteger(moved) ? moved : 0);
}

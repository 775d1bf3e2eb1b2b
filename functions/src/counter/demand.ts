/**
 * The demand that a measurement shows: an average rate, and the writes since the last measurement. Ten writes after an hour of
 * silence are a burst, not ten an hour.
 */
import { beginsCounter, type Cause, createdBeyond } from "./cause.ts";
import { shardTotalOf } from "./direct.ts";
import { nextPublishDue } from "./interval.ts";
import { type Measurement, shardsBeyond } from "./measurement.ts";
import { type Millis, toMillis } from "./time.ts";
import type { CounterSettings, Phase, Published } from "./types.ts";

/** The time constant of the average rate: a write this long ago has 1/e of the weight of one now. */
export const RATE_TIME_CONSTANT: Millis = 5_000;

/** Writing has stopped when this many expected writes are missing. The probability by chance is e⁻¹⁰, 1 in 22,000. */
const STOPPED = 10;

export interface Demand {
  /** Writes per second, averaged over some seconds. */
  readonly rate: number;
  /** Writes since the last measurement, or since the write that triggered this one. Of a new counter a lower bound. */
  readonly writes: number;
  /** The time in which these writes were made. More than 0. */
  readonly duration: Millis;
  /** New shards beyond the shard count. Clients whose writes are refused or slow choose among more shards. */
  readonly contentionShards: number;
}

/** The shortest duration of a burst. Writes in less time, such as those a device kept while offline, prove no rate. */
const SHORTEST_BURST: Millis = 250;

/** Phases in which a write triggers a measurement: the shard count is the fewest, by default 1, so clients write to shard 0. */
const TRIGGERED_PHASES: readonly Phase[] = ["idle", "shrunk", "cooling"];

/** @param fewest  how many shards the counter has at least: as many as clients of a new counter know of */
export function demandOf(
  cause: Cause,
  previous: Published | undefined,
  measurement: Measurement,
  fewest: number,
  config: CounterSettings,
): Demand {
  const { at, isPoll } = cause;
  const asOf = toMillis(measurement.asOf);
  const newShards = measurement.documents - (previous?.shardDocuments ?? 0);
  const contentionShards = Math.min(newShards, shardsBeyond(measurement, previous?.shardCount ?? fewest));
  const sinceWrite = Math.max(asOf - at, SHORTEST_BURST);
  if (!previous) {
    if (beginsCounter(cause)) return { rate: 0, writes: measurement.writes, duration: sinceWrite, contentionShards };
    // It is not known since when there were writes. But if contention makes shards now, each is assumed to get a write a second.
    const writes = createdBeyond(cause, fewest) ? contentionShards : 0;
    return { rate: 0, writes, duration: 1_000, contentionShards };
  }
  const sincePublish = Math.max(asOf - previous.asOf, 1);
  const writes = writesSoFar(previous, measurement) - previous.writes;
  const isTriggered =
    !isPoll && TRIGGERED_PHASES.includes(previous.phase) && at > nextPublishDue(previous, config) + config.minInterval;
  return {
    rate: averageRate(previous.rate, writes, sincePublish),
    writes,
    duration: isTriggered ? sinceWrite : sincePublish,
    contentionShards,
  };
}

/** Of documents that are counted a lower bound: a creation and a deletion between two measurements cancel out. */
export function writesSoFar(previous: Published | undefined, { collectionCount, total, writes }: Measurement): number {
  if (!collectionCount) return Math.max(writes, previous?.writes ?? 0);
  if (!previous) return total;
  // If the counter summed shards before, its total may have been any number.
  const change = Math.abs(total - shardTotalOf(previous));
  return previous.writes + (Number.isSafeInteger(change) ? change : 0);
}

/** The average rate after a period with `writes`. `before` is 0 if there was none. */
export function averageRate(before: number, writes: number, duration: Millis): number {
  if (writes === 0 && (before * duration) / 1_000 >= STOPPED) return 0;
  const weight = Math.exp(-duration / RATE_TIME_CONSTANT);
  return rounded(before * weight + ((writes * 1_000) / duration) * (1 - weight));
}

/** The rate since the last measurement, or since the write that triggered this one. */
export function recentRate({ writes, duration }: Demand): number {
  return rounded((writes * 1_000) / duration);
}

/** Rounded here and not when it is stored: all instances must draw the same conclusions from the same number. */
function rounded(rate: number): number {
  return Number(rate.toPrecision(6));
}

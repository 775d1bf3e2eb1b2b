/** What publishing one counter takes per second, and what its history takes: documents, reads and tasks. */
import { partOfShard0, STEP_MILLIS } from "../../core/src/index.ts";
import {
  DEFAULT_SETTINGS,
  MAX_LISTED_SHARDS,
  nextPhase,
  pollDelay,
  type Settings,
} from "../../functions/src/decisions.ts";
import type { DayPart } from "./traffic.ts";

/** @param baseDocuments  1 if the counter has a `base`, which the first fold creates; else 0 */
export function publishingPerSecond(part: DayPart, config: Settings, baseDocuments: number) {
  const { writes: rate, shards, interval } = part;
  if (rate === 0) return { publishes: 0, reads: 0, tasks: 0 };
  const measuring = measuringReads(shards + baseDocuments);
  if (isPolled(part)) {
    const polls = 1_000 / (pollDelay("busy", { rate, interval, quietFor: 0, shardCount: shards }, config) as number);
    const earlyWakes = Math.min(polls, rate * partOfShard0(shards));
    return { publishes: polls, reads: (measuring + 1) * polls + earlyWakes, tasks: polls };
  }
  const seconds = interval / 1_000;
  // Poisson arrivals: the chance of no write within the interval, and the mean time to the first one after it.
  const none = Math.exp(-rate * seconds);
  const publishes = 1 / (seconds + none / rate);
  return { publishes, reads: publishes * (measuring + 1 + (1 - none)), tasks: publishes * (1 - none) };
}

/** Reads of one measurement where the index of `shards` is deployed. */
export function measuringReads(documents: number): number {
  return documents <= MAX_LISTED_SHARDS ? documents : 2 * Math.ceil(documents / 1_000);
}

/** Whether the functions poll a counter that is written evenly. */
export function isPolled({ writes: rate, shards, interval }: DayPart): boolean {
  const hasSilentShards = shards > 1;
  return (
    nextPhase("busy", { isWritten: true, quietFor: 0, rate, interval, hasSilentShards }, DEFAULT_SETTINGS) === "busy"
  );
}

/**
 * @param publishes  per second
 * @returns per second, `points` that are written and `documents` that hold them
 */
export function historyPerSecond(
  { writes: rate }: DayPart,
  publishes: number,
  { historyRetention, maxInterval }: Settings,
) {
  if (historyRetention === 0) return { points: 0, documents: 0 };
  // Poisson arrivals: a publish counts as busy if the write before it is no older than the longest interval.
  const busy = publishes * (1 - Math.exp((-rate * maxInterval) / 1_000));
  const occupied = (perSecond: number, step: keyof typeof STEP_MILLIS) => {
    const seconds = STEP_MILLIS[step] / 1_000;
    return (1 - Math.exp(-perSecond * seconds)) / seconds;
  };
  return {
    points: occupied(busy, "minute") + occupied(publishes, "hour"),
    documents: occupied(busy, "hour") + occupied(publishes, "day"),
  };
}

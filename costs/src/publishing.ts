/** What publishing one counter takes per second, and what its history takes: documents, reads and tasks. */
import { partOfShard0, STEP_MILLIS } from "../../core/src/index.ts";
import { areAny, DEFAULT_SETTINGS, nextPhase, pollDelay, type Settings } from "../../functions/src/decisions.ts";
import type { DayPart } from "./traffic.ts";

/** @param measuring  reads of one measurement, or read units */
export function publishingPerSecond(part: DayPart, config: Settings, measuring: number) {
  const { writes: rate, shards, interval } = part;
  if (rate === 0) return { publishes: 0, reads: 0, tasks: 0 };
  if (isPolled(part)) {
    const polled = { rate, interval, quietFor: 0, shardCount: shards, isFoldDue: false };
    const polls = 1_000 / (pollDelay("busy", polled, config) as number);
    const earlyWakes = Math.min(polls, rate * partOfShard0(shards));
    return { publishes: polls, reads: (measuring + 1) * polls + earlyWakes, tasks: polls };
  }
  const seconds = interval / 1_000;
  // Poisson arrivals: the chance of no write within the interval, and the mean time to the first one after it.
  const none = Math.exp(-rate * seconds);
  const publishes = 1 / (seconds + none / rate);
  return { publishes, reads: publishes * (measuring + 1 + (1 - none)), tasks: publishes * (1 - none) };
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
 * @returns per second, the points of minutes and of hours that are written, and the documents that hold them
 */
export function historyPerSecond({ writes: rate }: DayPart, publishes: number, { history, maxInterval }: Settings) {
  const none = { points: 0, documents: 0 };
  if (!areAny(history.groups)) return { minutes: none, hours: none };
  // Poisson arrivals: a publish counts as busy if the write before it is no older than the longest interval.
  const busy = publishes * (1 - Math.exp((-rate * maxInterval) / 1_000));
  const occupied = (perSecond: number, step: keyof typeof STEP_MILLIS) => {
    const seconds = STEP_MILLIS[step] / 1_000;
    return (1 - Math.exp(-perSecond * seconds)) / seconds;
  };
  return {
    minutes: { points: occupied(busy, "minute"), documents: occupied(busy, "hour") },
    hours: { points: occupied(publishes, "hour"), documents: occupied(publishes, "day") },
  };
}

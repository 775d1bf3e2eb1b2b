/**
 * What a traffic costs in a month, item by item.
 *
 * Intervals, polling and shard counts are decided by the functions' own rules, each counter being written evenly, with a
 * busy part of each day and a quiet rest. What follows per publish is how the functions work (docs/architecture.md):
 *
 *     busy        polled: per interval 1 task, 1 measurement and 1 publish. The task reads the counter document, and so does
 *                 a wake that came after the poll was due. Only writes to shard 0 wake
 *     idle        a publish waits for a write: the interval, then the first write after it. If that came early, its wake
 *                 has read the counter document and put the publish off by a task
 *     after it    five polls, the last of which folds: after the interval, the longest one, a minute, 130 s, the cool-down
 *     history     a write for each hour with a publish, and for each minute in which one of them was of a busy counter; of
 *                 each day of hours and each hour of minutes one document, which is deleted when it is too old
 */
import { INCREMENTS_PER_MARK_REMOVAL, MAX_SHARDS, STEP_MILLIS } from "../../core/src/index.ts";
import { decideScaling } from "../../functions/src/autoscale.ts";
import type { Config } from "../../functions/src/config.ts";
import { publishInterval } from "../../functions/src/interval.ts";
import { nextPhase, pollAfter } from "../../functions/src/phase.ts";
import { FEW } from "../../functions/src/shards.ts";

/** What deploys with every default; a test compares them. */
export const DEFAULTS: Config = {
  collection: "counters",
  minShards: 1,
  maxShards: MAX_SHARDS,
  writesPerShard: 1,
  shrinkCooldown: 600_000,
  minInterval: 1_000,
  maxInterval: 10_000,
  precision: 0.001,
  counted: undefined,
  mirrors: [],
  historyRetention: 30 * 86_400_000,
};

/** US dollars for one. */
export interface Prices {
  readonly read: number;
  readonly write: number;
  readonly delete: number;
  readonly invocation: number;
  /** Two billable operations: that it is created, and that it is delivered. */
  readonly task: number;
}

/**
 * By location of the database: https://firebase.google.com/docs/firestore/pricing, https://cloud.google.com/tasks/pricing,
 * https://firebase.google.com/pricing.
 */
export const PRICES = {
  nam5: { read: 0.6e-6, write: 1.8e-6, delete: 0.2e-6, invocation: 0.4e-6, task: 0.8e-6 },
  regional: { read: 0.3e-6, write: 0.9e-6, delete: 0.1e-6, invocation: 0.4e-6, task: 0.8e-6 },
} as const satisfies Record<string, Prices>;

export interface Traffic {
  /** Increments per second, of all counters together, over the whole day. */
  readonly perSecond: number;
  /** Increments per second, of all counters together, in the busy part of the day. At least `perSecond`. */
  readonly peakPerSecond: number;
  /** How long the busy part may last. It is shorter if so much traffic would be more than the day's. */
  readonly peakHours: number;
  /** How many counters share the traffic, evenly. */
  readonly counters: number;
  /** The share of increments that have a key. */
  readonly keyed: number;
  /** Clients that watch one counter, on average over the day. */
  readonly watchers: number;
  /** Counter documents read by clients in a day, of all counters together: one for each watch that begins, one per read. */
  readonly readsPerDay: number;
  /**
   * Increments that a client makes of a counter within two minutes, and for which it reads the shard count once. 0 for clients
   * that watch the counter, and so know it.
   */
  readonly perClient: number;
  /** What the total of a counter is; as default what half a month of this traffic makes it. */
  readonly total?: number | undefined;
}

export interface Item {
  readonly name: string;
  /** What is billed. */
  readonly unit: keyof Prices;
  /** How many in a month. */
  readonly perMonth: number;
  readonly dollars: number;
}

/** One part of the day, as one counter has it. */
export interface Phase {
  readonly hours: number;
  /** Increments per second of one counter. */
  readonly rate: number;
  readonly shards: number;
  /** Milliseconds between two totals. */
  readonly interval: number;
}

export interface Costs {
  readonly items: readonly Item[];
  readonly dollars: number;
  readonly increments: number;
  readonly phases: readonly Phase[];
}

/** Days of a month. */
const DAYS = 30;
const DAY_SECONDS = 86_400;

/** One every five minutes. */
const SWEEPS = DAYS * 24 * 12;

/** The fewest documents that one of them reads: one for each half of an empty query. */
const SWEEP_READS = 2;

/** Documents that the rules look up for a keyed increment, whatever is asked of them: its shard and its entry. */
const LOOKUPS = 2;

/** Polls of a counter whose peak is over: busy, scattered, quiet, shrunk, cooling (functions/src/phase.ts). */
const LAST_POLLS = 5;

/** Shards per batch of a fold. */
const FOLD_BATCH = 200;

export function costsOf(traffic: Traffic, prices: Prices, config: Config = DEFAULTS): Costs {
  const { counters, keyed, watchers, readsPerDay, perClient } = traffic;
  const phases = phasesOf(traffic, config);
  const folded = Math.max(0, (phases[0]?.shards ?? 0) - (phases.at(-1)?.shards ?? 0));
  const total = traffic.total ?? (traffic.perSecond * DAY_SECONDS * DAYS) / 2 / counters;
  const monthly = (of: (phase: Phase) => number) =>
    counters * phases.reduce((sum, phase) => sum + of(phase) * phase.hours * 3_600 * DAYS, 0);
  const days = counters * DAYS;

  const publishing = (phase: Phase) => publishingOf(phase, total, config, folded > 0 ? 1 : 0);
  const increments = monthly(({ rate }) => rate);
  const tasks = monthly((phase) => publishing(phase).tasks);
  const lastPolls = folded > 0 ? days * LAST_POLLS : 0;
  const publishes = monthly((phase) => publishing(phase).publishes) + lastPolls;
  const keeping = (phase: Phase) => keepingOf(phase, publishing(phase).publishes, config);
  const folds = days * Math.ceil(folded / FOLD_BATCH);
  const swept = counters * phases.reduce((sum, phase) => sum + (isBusy(phase) ? phase.hours / 24 : 0), 0);
  const item = (name: string, unit: keyof Prices, perMonth: number): Item => {
    return { name, unit, perMonth, dollars: perMonth * prices[unit] };
  };
  const items = [
    item("increments", "write", increments),
    item("entries of keyed increments", "write", increments * keyed),
    item("rules' lookups for keyed increments", "read", increments * keyed * LOOKUPS),
    item("shard count, by who increments", "read", perClient > 0 ? increments / Math.max(perClient, 1) : 0),
    item("old marks, once in 128 increments", "read", increments / INCREMENTS_PER_MARK_REMOVAL),
    item("old marks, removed", "write", increments / INCREMENTS_PER_MARK_REMOVAL),
    item(
      "measuring, counter document",
      "read",
      monthly((phase) => publishing(phase).reads),
    ),
    item("publishing the totals", "write", publishes),
    item(
      "history",
      "write",
      monthly((phase) => keeping(phase).points),
    ),
    item(
      "history, once it is too old",
      "delete",
      monthly((phase) => keeping(phase).documents),
    ),
    item("totals, by who watches", "read", publishes * watchers),
    item("totals, by who reads or begins to watch", "read", readsPerDay * DAYS),
    item("polling after the peak", "read", lastPolls * (measuringReads((phases[0]?.shards ?? 0) + 1) + 1)),
    item("folding shards after the peak: listing", "read", folded > 0 ? days * ((phases[0]?.shards ?? 0) + 1) : 0),
    item("folding shards after the peak: deletes", "delete", days * folded),
    item("folding shards after the peak: base", "write", folds),
    item("sweeps", "read", SWEEPS * Math.max(swept, SWEEP_READS)),
    item(
      "function invocations",
      "invocation",
      // Those of shard 0, and those that create anew what was folded the night before.
      monthly(({ rate, shards }) => rate / shards) + days * folded + tasks + lastPolls + SWEEPS + folds,
    ),
    item("tasks", "task", tasks + lastPolls),
  ];
  return { items, dollars: items.reduce((sum, { dollars }) => sum + dollars, 0), increments, phases };
}

/** The busy part of the day, if there is one, and the rest. */
function phasesOf(traffic: Traffic, config: Config): Phase[] {
  const { perSecond, counters } = traffic;
  const peak = Math.max(traffic.peakPerSecond, perSecond);
  const busy = peak > perSecond ? Math.min(traffic.peakHours, peak > 0 ? (24 * perSecond) / peak : 0) : 0;
  const rest = 24 - busy > 0 ? Math.max(24 * perSecond - busy * peak, 0) / (24 - busy) : 0;
  const total = traffic.total ?? (perSecond * DAY_SECONDS * DAYS) / 2 / counters;

  const shardsAtPeak = shardsAt(peak / counters, config.minShards, config);
  const phase = (hours: number, rate: number, shards: number): Phase => {
    return { hours, rate, shards, interval: publishInterval(total, rate, 0, config) };
  };
  const quiet = phase(24 - busy, rest / counters, shardsAt(rest / counters, shardsAtPeak, config));
  return busy > 0 ? [phase(busy, peak / counters, shardsAtPeak), quiet].filter(({ hours }) => hours > 0) : [quiet];
}

/** The shard count that the functions come to, and stay at, from another one. */
function shardsAt(rate: number, from: number, config: Config): number {
  // In a month some clients meet contention, so the average is believed without a discount for chance.
  const demand = { rate, writes: 0, within: 1, beyond: Number.POSITIVE_INFINITY };
  for (let shardCount = from; ; ) {
    const scaling = { shardCount, calmSince: 0 };
    const { shardCount: next } = decideScaling(demand, scaling, config.shrinkCooldown, config.minShards, config);
    if (next === shardCount) return shardCount;
    shardCount = next;
  }
}

/**
 * What one counter's publishing takes, per second.
 *
 * @param bases  documents in `shards` that are no client's: `base`, once something was folded
 */
function publishingOf(phase: Phase, total: number, config: Config, bases: number) {
  const { rate, shards, interval: most } = phase;
  if (rate === 0) return { publishes: 0, reads: 0, tasks: 0 };
  const measuring = measuringReads(shards + bases);
  if (isBusy(phase)) {
    const polls =
      1_000 / (pollAfter("busy", { rate, interval: most, quietFor: 0, shardCount: shards }, config) as number);
    const wondering = Math.min(polls, rate / shards);
    return { publishes: polls, reads: (measuring + 1) * polls + wondering, tasks: polls };
  }
  const interval = publishInterval(total, rate, 0, config) / 1_000;
  // Writes come independently: none within the interval with this probability, the first one after it on average so late.
  const none = Math.exp(-rate * interval);
  const publishes = 1 / (interval + none / rate);
  return { publishes, reads: publishes * (measuring + 1 + (1 - none)), tasks: publishes * (1 - none) };
}

/** What a measurement costs where the index of `shards` is deployed. */
function measuringReads(documents: number): number {
  return documents <= FEW ? documents : 2 * Math.ceil(documents / 1_000);
}

/** Whether the functions poll a counter that is written evenly. */
function isBusy({ rate, shards, interval }: Phase): boolean {
  const hasSilentShards = shards > 1;
  return nextPhase("busy", { isWritten: true, quietFor: 0, rate, interval, hasSilentShards }, DEFAULTS) === "busy";
}

/** What one counter's history takes, per second: points that are kept, and documents that hold them. */
function keepingOf({ rate }: Phase, publishes: number, { historyRetention, maxInterval }: Config) {
  if (historyRetention === 0) return { points: 0, documents: 0 };
  // Writes come independently: a publish is of a busy counter if the write before was no longer ago.
  const busy = publishes * (1 - Math.exp((-rate * maxInterval) / 1_000));
  const spans = (perSecond: number, step: keyof typeof STEP_MILLIS) => {
    const seconds = STEP_MILLIS[step] / 1_000;
    return (1 - Math.exp(-perSecond * seconds)) / seconds;
  };
  return {
    points: spans(busy, "minute") + spans(publishes, "hour"),
    documents: spans(busy, "hour") + spans(publishes, "day"),
  };
}

/** A run in figures: a row of the tables, and the points of its charts. */
import { ENTERPRISE_PRICES, PRICES } from "../../costs/src/index.ts";
import type { Millis } from "../../functions/src/decisions.ts";
import { type Bill, dollarsPerMillion, sumOf } from "./bill.ts";
import type { Outcome } from "./simulate.ts";

export interface Summary {
  readonly scenario: string;
  /** The share of increments that were acknowledged before the end. */
  readonly acknowledged: number;
  readonly ackMillis: { readonly p50: Millis; readonly p95: Millis; readonly p99: Millis };
  /** The slowest recovery from a step in the traffic: `null` if one never ends, absent without steps. */
  readonly recoveryMillis?: Millis | null;
  /** From the commit of an increment to the publish of a total that has it. */
  readonly staleMillis: { readonly p50: Millis; readonly p95: Millis; readonly max: Millis };
  /** Shards of the first counter for each that its rate needs, if its rate was recorded, and the most that it had. */
  readonly shardsPerNeed: number | null;
  readonly mostShards: number;
  /** The most documents that the first counter had in `shards`. */
  readonly mostDocuments: number;
  /** Measurements per second of all counters together. */
  readonly measurementsPerSecond: number;
  /** Changes of direction of shard counts. */
  readonly turnsPerHour: number;
  /** Dollars per million increments, by item and together. */
  readonly costs: Bill;
  readonly dollars: number;
}

export interface SimulatedRun extends Summary {
  readonly dollarsWithoutIndex: number;
  /** Of the scenarios that charts show. */
  readonly timeline?: ReturnType<typeof timelineOf>;
}

export function summarize({ scenario, settings, metrics, bill, offered, acknowledged, recoveries }: Outcome): Summary {
  const { acknowledgements, staleness, provided, needed, mostShards, mostDocuments, turns, sweeps } = metrics;
  // Beside what it reads, each sweep is an invocation.
  const prices = settings.enterprise > 0 ? ENTERPRISE_PRICES.regional : PRICES.nam5;
  const costs = dollarsPerMillion({ ...bill, invocations: bill.invocations + sweeps }, prices);
  const slowest = Math.max(...recoveries.map((took) => took ?? Number.POSITIVE_INFINITY));
  const seconds = (scenario.lasts - scenario.warmUp + scenario.settles) / 1_000;
  const ack = (share: number) => acknowledgements.quantile(share);
  return {
    scenario: scenario.name,
    acknowledged: offered > 0 ? acknowledged / offered : 1,
    ackMillis: { p50: ack(0.5), p95: ack(0.95), p99: ack(0.99) },
    ...(recoveries.length > 0 && { recoveryMillis: Number.isFinite(slowest) ? slowest : null }),
    staleMillis: { p50: staleness.quantile(0.5), p95: staleness.quantile(0.95), max: staleness.max },
    shardsPerNeed: needed > 0 ? provided / needed : null,
    mostShards,
    mostDocuments,
    measurementsPerSecond: metrics.measurements / seconds,
    turnsPerHour: (3_600 * turns) / seconds,
    costs,
    dollars: sumOf(costs),
  };
}

export function timelineOf({ metrics, scenario }: Outcome) {
  return metrics.windows
    .filter(({ at }) => at < scenario.lasts)
    .map(({ at, offered, committed, shardCount }) => ({ at, offered, committed, shardCount }));
}

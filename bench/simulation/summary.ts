/** A run in figures: one row of a table, and what is recorded of it for charts. */
import type { Millis } from "../../functions/src/decisions.ts";
import { type Bill, dollarsOf, emptyBill, ITEMS, perMillion, sumOf } from "./bill.ts";
import type { Outcome } from "./simulate.ts";

export interface Summary {
  readonly trace: string;
  readonly increments: number;
  readonly perSecond: number;
  /** The share of increments that were acknowledged before the end. */
  readonly acknowledged: number;
  readonly ackMs: { readonly p50: Millis; readonly p95: Millis; readonly p99: Millis };
  /** For each step in the traffic, how long until 95 of 100 increments are acknowledged within a second; `null`: never. */
  readonly absorbedMs: readonly (Millis | null)[];
  /** From the commit of an increment until it shows. */
  readonly staleMs: { readonly p50: Millis; readonly p95: Millis; readonly max: Millis };
  /** Shards of the first counter for each that its rate needs. */
  readonly provisioned: number;
  /** The most shards it had. */
  readonly mostShards: number;
  readonly publishesPerSecond: number;
  readonly grown: number;
  readonly shrunk: number;
  readonly turnsPerHour: number;
  /** Dollars per million increments, item by item, and all of it. */
  readonly cost: Bill;
  readonly dollars: number;
}

export function summarize({ trace, gauges, bill, offered, acknowledged, absorbed }: Outcome): Summary {
  const seconds = (trace.lasts - trace.warmUp) / 1_000;
  // The sweeps' own cost, beside what they read: one run, and one read if there is nothing to do.
  const withSweeps = { ...bill, invocations: bill.invocations + gauges.sweeps };
  const cost = perMillion(withSweeps);
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => gauges.acks.quantile(share)) as [number, number, number];
  return {
    trace: trace.name,
    increments: bill.increments,
    perSecond: offered / seconds,
    acknowledged: offered > 0 ? acknowledged / offered : 1,
    ackMs: { p50, p95, p99 },
    absorbedMs: absorbed.map((took) => took ?? null),
    staleMs: {
      p50: gauges.staleness.quantile(0.5),
      p95: gauges.staleness.quantile(0.95),
      max: gauges.staleness.max,
    },
    provisioned: gauges.provided / gauges.needed,
    mostShards: gauges.mostShards,
    publishesPerSecond: gauges.publishes / seconds,
    grown: gauges.grown,
    shrunk: gauges.shrunk,
    turnsPerHour: (gauges.turns * 3_600) / (seconds + trace.settles / 1_000),
    cost,
    dollars: sumOf(cost),
  };
}

/** What a chart of a run takes. */
export function timeline({ gauges, trace }: Outcome) {
  return gauges.windows
    .filter(({ at }) => at < trace.lasts)
    .map(({ at, acks, offered, committed, publishes, shardCount }) => {
      const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => Math.round(acks.quantile(share)));
      return { at, offered, committed, publishes, shardCount, p50, p95, p99 };
    });
}

/** Counters by how often they were incremented, and what they cost. */
export interface Popularity {
  readonly from: number;
  readonly counters: number;
  readonly increments: number;
  /** Dollars, item by item. */
  readonly cost: Bill;
  readonly dollars: number;
}

export function byPopularity({ counters }: Outcome): Popularity[] {
  return [1, 2, 10, 100, 1_000, 10_000].flatMap((from, i, froms) => {
    const some = counters.filter(
      ({ bill: { increments } }) => increments >= from && increments < (froms[i + 1] ?? Infinity),
    );
    if (some.length === 0) return [];
    const cost = emptyBill();
    for (const { bill } of some) for (const item of ITEMS) cost[item] += dollarsOf(item, bill[item]);
    const increments = some.reduce((sum, { bill }) => sum + bill.increments, 0);
    return [{ from, counters: some.length, increments, cost, dollars: sumOf(cost) }];
  });
}

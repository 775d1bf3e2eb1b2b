/** The tables of simulated runs, for the terminal and README.md. */
import { fixed, seconds, tableOf } from "../markdown.ts";
import { ITEMS } from "./bill.ts";
import type { SimulatedRun } from "./summary.ts";

export function figures(runs: readonly SimulatedRun[]): string {
  return tableOf(runs, 1, {
    traffic: ({ scenario }) => scenario,
    acknowledged: ({ acknowledged }) => `${fixed(100 * acknowledged, 1)} %`,
    "ack. p50": ({ ackMillis }) => seconds(ackMillis.p50),
    p95: ({ ackMillis }) => seconds(ackMillis.p95),
    p99: ({ ackMillis }) => seconds(ackMillis.p99),
    "recovered in": ({ recoveryMillis = Number.NaN }) => seconds(recoveryMillis ?? Number.POSITIVE_INFINITY),
    "stale p50": ({ staleMillis }) => seconds(staleMillis.p50),
    "stale p95": ({ staleMillis }) => seconds(staleMillis.p95),
    max: ({ staleMillis }) => seconds(staleMillis.max),
    "shards per need": ({ shardsPerNeed }) => (shardsPerNeed === null ? "" : fixed(shardsPerNeed, 2)),
    "most shards": ({ mostShards, shardsPerNeed }) => (shardsPerNeed === null ? "" : fixed(mostShards, 0)),
    documents: ({ mostDocuments, shardsPerNeed }) => (shardsPerNeed === null ? "" : fixed(mostDocuments, 0)),
    "measured/s": ({ measurementsPerSecond }) => fixed(measurementsPerSecond, 2),
    "turns/h": ({ turnsPerHour }) => fixed(turnsPerHour, 1),
    "$ per million": ({ dollars }) => fixed(dollars, 2),
    "without the index": ({ dollarsWithoutIndex }) => fixed(dollarsWithoutIndex, 2),
  });
}

export function bills(runs: readonly SimulatedRun[]): string {
  const items = ITEMS.map((item) => [item, ({ costs }: SimulatedRun) => fixed(costs[item], 2)] as const);
  return tableOf(runs, 1, { traffic: ({ scenario }) => scenario, ...Object.fromEntries(items) });
}

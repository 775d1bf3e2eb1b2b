/** The tables of the simulator of load. */
import type { Summary } from "../simulation/summary.ts";
import { type Parts, table } from "./fill.ts";
import { fixed, seconds } from "./units.ts";

/** A run, and what it would have cost without the index of `shards`. */
export interface Run extends Summary {
  readonly dollarsWithoutIndex: number;
}

export function simulatedParts(traces: readonly Run[], rates: readonly Run[]): Parts {
  return { "simulate:traces": ofTraces(traces), "simulate:rates": ofRates(rates) };
}

const COSTS = ["$ per million", "without the index"];

function ofTraces(traces: readonly Run[]): string {
  const head = ["traffic", "acknowledged", "p95", "absorbed in", "shards per need", "shows within, p95", ...COSTS];
  const rows = traces.map(({ trace, acknowledged, ackMs, absorbedMs, provisioned, staleMs, ...run }) => [
    trace,
    `${fixed(100 * acknowledged, 1)} %`,
    seconds(ackMs.p95),
    absorbedMs.length > 0 ? seconds(Math.max(...absorbedMs.map((took) => took ?? Number.POSITIVE_INFINITY))) : "",
    Number.isFinite(provisioned) ? fixed(provisioned, 2) : "",
    seconds(staleMs.p95),
    ...dollars(run),
  ]);
  return table(head, 1, rows);
}

function ofRates(rates: readonly Run[]): string {
  const rows = rates.map(({ trace, mostShards, staleMs, ...run }) => [
    trace,
    mostShards > 0 ? fixed(mostShards, 0) : "",
    seconds(staleMs.p95),
    ...dollars(run),
  ]);
  return table(["increments", "most shards", "shows within, p95", ...COSTS], 1, rows);
}

function dollars({ dollars: indexed, dollarsWithoutIndex }: Pick<Run, "dollars" | "dollarsWithoutIndex">): string[] {
  return [fixed(indexed, 2), fixed(dollarsWithoutIndex, 2)];
}

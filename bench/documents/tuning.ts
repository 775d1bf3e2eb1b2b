/** The tables of what was tried in the simulator of load: what each change is worth, and what each constant was chosen for. */

import type { Summary } from "../simulation/summary.ts";
import { type Parts, table } from "./fill.ts";
import { fixed, seconds } from "./units.ts";

/** One experiment, as `npm run simulate -- --tune all` records it. */
export interface Experiment {
  readonly name: string;
  readonly rows: readonly (Summary & { readonly variant: string })[];
}

/** A run of one trace before a change, between, or now. */
export interface Stage extends Summary {
  readonly trace: string;
  readonly design: string;
}

/** Of each simulated run. */
const HEAD = ["acknowledged", "p95", "absorbed in", "shards per need", "shows within, p95", "$ per million"];

export function tuningParts(
  experiments: readonly Experiment[],
  stages: readonly Stage[],
  rates: readonly Stage[],
): Parts {
  const parts = experiments.map(({ name, rows }) => {
    const several = new Set(rows.map(({ trace }) => trace)).size > 1;
    const labels = (row: Experiment["rows"][number], n: number) => [
      ...(several ? [rows[n - 1]?.trace === row.trace ? "" : row.trace] : []),
      setting(row.variant),
    ];
    const head = [...(several ? ["traffic"] : []), "settings"];
    return [
      `tuning:${name}`,
      table(
        [...head, ...HEAD],
        head.length,
        rows.map((row, n) => [...labels(row, n), ...figures(row)]),
      ),
    ];
  });
  const byTrace = stages.map((stage, n) => [
    stages[n - 1]?.trace === stage.trace ? "" : stage.trace,
    stage.design,
    ...figures(stage),
  ]);
  return {
    ...Object.fromEntries(parts),
    "simulate:traces": table(["traffic", ...HEAD], 1, deployed(stages)),
    "simulate:stages": table(["traffic", "", ...HEAD], 2, byTrace),
    "simulate:rates": dollarsByRate(rates),
  };
}

/** What deploys, without what was before. */
function deployed(stages: readonly Stage[]): string[][] {
  return stages.filter(({ design }) => design === "as deployed").map((stage) => [stage.trace, ...figures(stage)]);
}

/** What {@link HEAD} names. */
function figures({ acknowledged, ackMs, absorbedMs, provisioned, staleMs, dollars }: Summary): string[] {
  return [
    `${fixed(100 * acknowledged, 1)} %`,
    seconds(ackMs.p95),
    absorbed(absorbedMs),
    Number.isFinite(provisioned) ? fixed(provisioned, 2) : "",
    seconds(staleMs.p95),
    fixed(dollars, 2),
  ];
}

/** In half of the steps of all seeds, and in 95 of 100. */
function absorbed(all: readonly (number | undefined | null)[]): string {
  if (all.length === 0) return "";
  const took = all.map((one) => one ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b);
  const within = (share: number) => seconds(took[Math.ceil(share * took.length) - 1] as number);
  return took.length === 1 ? within(1) : `${within(0.5)}, ${within(0.95)}`;
}

function dollarsByRate(rates: readonly Stage[]): string {
  const designs = [...new Set(rates.map(({ design }) => design))];
  const traffic = [...new Set(rates.map(({ trace }) => trace))];
  const rows = traffic.map((trace) => [
    trace,
    ...designs.map((design) =>
      fixed(rates.find((one) => one.trace === trace && one.design === design)?.dollars as number, 2),
    ),
  ]);
  return table(["increments", ...designs], 1, rows);
}

function setting(variant: string): string {
  return variant.includes("=") ? `\`${variant}\`` : variant;
}

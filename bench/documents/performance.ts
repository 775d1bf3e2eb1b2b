/** The tables of docs/performance.md, from what was recorded. */
import { formatWhole } from "../../cli/src/format.ts";
import { type Percentiles, percentilesOf } from "../../testkit/statistics.ts";
import type { CrowdTrial } from "../crowd.ts";
import type { Freshness } from "../freshness.ts";
import type { Trial } from "../trial.ts";
import { type Parts, table } from "./fill.ts";
import { loadTitle, type Recorded, TITLES } from "./results.ts";
import { fixed, seconds } from "./units.ts";

function conditions({ measuredAt, machine, versions, limits, latencies }: Recorded): string {
  const named = Object.entries(versions).map(([name, version]) => `\`${name}\` ${version}`);
  return [
    `Recorded on ${measuredAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpu}), Node ${machine.node},`,
    `${named.join(", ")}. A document takes ${limits.perSecond} write per second, ${limits.burst} at once`,
    `after a rest. A write that would have to wait for more than ${limits.longestWait / 1_000} s is refused. Latency each way:`,
    `${latencies.clients} ms for clients, ${latencies.functions} ms for functions.`,
  ].join("\n");
}

/** One row for each load and contender; the load is named once. */
function ofTrials(
  trials: readonly Trial[],
  columns: Readonly<Record<string, (trial: Trial) => string | number>>,
): string {
  const rows = trials.map((trial, n) => [
    trials[n - 1]?.load === trial.load ? "" : loadTitle(trial.load),
    TITLES[trial.contender],
    ...Object.values(columns).map((of) => `${of(trial)}`),
  ]);
  return table(["offered", "", ...Object.keys(columns)], 2, rows);
}

const percentiles = (of: (trial: Trial) => Percentiles) => ({
  p50: (trial: Trial) => seconds(of(trial).p50, 2),
  p95: (trial: Trial) => seconds(of(trial).p95, 2),
  p99: (trial: Trial) => seconds(of(trial).p99, 2),
});

function acknowledgements(trials: readonly Trial[]): string {
  return ofTrials(trials, {
    ...percentiles(({ acknowledgement }) => acknowledgement),
    "accepted/s": ({ acceptedPerSecond }) => fixed(acceptedPerSecond, 1),
    "step absorbed in": ({ isStep, absorbedAfter }) => (isStep ? seconds(absorbedAfter, 2) : ""),
  });
}

function freshness(trials: readonly Trial[]): string {
  return ofTrials(trials, {
    ...percentiles(({ lag }) => lag),
    "totals/s": ({ totalsPerSecond }) => fixed(totalsPerSecond, 1),
    "reads/s of one who watches": ({ watcherReadsPerSecond }) => fixed(watcherReadsPerSecond, 1),
  });
}

function exactness(trials: readonly Trial[]): string {
  return ofTrials(trials, {
    made: ({ offered }) => formatWhole(offered),
    acknowledged: ({ acknowledged }) => formatWhole(acknowledged),
    "in the total": ({ total }) => formatWhole(total),
    "seen by who watches": ({ visible }) => formatWhole(visible),
    exact: ({ exact }) => (exact ? "yes" : "**no**"),
    "refused commits": ({ aborted }) => formatWhole(aborted),
  });
}

function costs(trials: readonly Trial[]): string {
  return ofTrials(trials, {
    documents: ({ documents }) => formatWhole(documents),
    reads: ({ per1000 }) => formatWhole(per1000.reads),
    writes: ({ per1000 }) => formatWhole(per1000.writes),
    deletes: ({ per1000 }) => formatWhole(per1000.deletes),
    invocations: ({ per1000 }) => formatWhole(per1000.invocations),
    tasks: ({ per1000 }) => formatWhole(per1000.tasks),
    "$ per million": ({ dollarsPerMillion }) => fixed(dollarsPerMillion, 2),
  });
}

function overheads({ overhead }: Recorded): string {
  const rows = overhead.map(({ name, tally, raw, ratio }) => [
    name,
    formatWhole(tally),
    formatWhole(raw),
    fixed(ratio, 2),
  ]);
  return table(["", "Tally, writes/s", "by hand, writes/s", "ratio"], 1, rows);
}

function aggregations({ aggregation }: Recorded): string {
  const rows = aggregation.map(({ shards, perSecond, perCoreSecond, took: { p50, p95, p99 } }) => [
    formatWhole(shards),
    fixed(perSecond, 1),
    fixed(perCoreSecond, 1),
    ...[p50, p95, p99].map((duration) => `${formatWhole(duration)} ms`),
  ]);
  return table(["shards", "per second", "per second of CPU", "p50", "p95", "p99"], 0, rows);
}

/** Mean and p95 in milliseconds of two others under the same arrivals, measured on 2026-11-22 on another machine of two cores. */
const BEFORE: Readonly<Record<number, readonly [first: string, google: string]>> = {
  0.2: ["2,114 / 6,352", "115 / 1,438"],
  0.5: ["1,356 / 5,022", "53 / 211"],
  1: ["2,971 / 8,343", "73 / 183"],
  3: ["2,327 / 7,196", "101 / 608"],
  10: ["1,240 / 3,320", "106 / 653"],
};

function rates(all: readonly Freshness[]): string {
  const rows = all.map(({ perSecond, increments, delays, exact, shards }) => {
    const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
    const { p95 } = percentilesOf(delays);
    const [first, google] = BEFORE[perSecond] ?? ["", ""];
    const now = `${formatWhole(mean)} / ${formatWhole(p95)}`;
    return [
      `${perSecond}`,
      `${increments}`,
      now,
      formatWhole(Math.max(...delays)),
      exact ? "yes" : "**no**",
      `${shards}`,
      first,
      google,
    ];
  });
  return table(
    [
      "increments/s",
      "increments",
      "mean / p95, ms",
      "most, ms",
      "exact",
      "shards",
      "first edition",
      "Google's extension",
    ],
    0,
    rows,
  );
}

/** One row for each crowd: its runs together, and the floor under the same crowd. */
function crowds(trials: readonly CrowdTrial[]): string {
  const named = Map.groupBy(trials, ({ crowd: { clients, perSecond, packaging, governed } }) =>
    [`${clients} clients, ${perSecond}/s`, packaging, governed ? "hot documents" : ""].join("|"),
  );
  const rows = [...named].map(([name, runs]) => {
    const of = (who: CrowdTrial["who"]) => runs.filter((trial) => trial.who === who);
    const [tally, floor] = [of("tally"), of("floor")];
    const sum = (field: "offered" | "acknowledged" | "counted") => tally.reduce((all, trial) => all + trial[field], 0);
    const median = (all: readonly CrowdTrial[], value: (trial: CrowdTrial) => number) =>
      percentilesOf(all.map(value)).p50;
    const times = [tally, floor].flatMap((all) => [
      seconds(
        median(all, (trial) => trial.lastAcknowledged),
        1,
      ),
      seconds(
        median(all, (trial) => trial.acknowledgement.p50),
        1,
      ),
    ]);
    const early = tally.map((trial) => trial.early.documents);
    return [
      ...name.split("|"),
      ...[
        `${tally.length}`,
        formatWhole(sum("offered")),
        formatWhole(sum("acknowledged")),
        formatWhole(sum("counted")),
      ],
      ...times,
      formatWhole(Math.min(...early)),
    ];
  });
  return table(
    [
      ...["crowd", "packaging", "", "runs", "made", "acknowledged", "counted"],
      ...["last after", "p50", "floor: last", "floor: p50", "shards at 8 s"],
    ],
    3,
    rows,
  );
}

export function performanceParts(bench: Recorded, slow: Recorded, fresh: Recorded, crowd: Recorded): Parts {
  return {
    "bench:rates": rates(fresh.freshness),
    "bench:crowds": crowds(crowd.crowds),
    "bench:conditions": conditions(bench),
    "bench:acknowledgement": acknowledgements(bench.trials),
    "bench:slow": acknowledgements(slow.trials),
    "bench:freshness": freshness(bench.trials),
    "bench:exactness": exactness(bench.trials),
    "bench:costs": costs(bench.trials),
    "bench:overhead": overheads(bench),
    "bench:aggregation": aggregations(bench),
  };
}

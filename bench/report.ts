/** The results as tables for people, and as a file for whatever makes charts of them. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import Table from "cli-table3";
import type { Millis, Percentiles } from "../testkit/statistics.ts";
import type { WriteLimits } from "../testkit/writeLimiter.ts";
import type { AggregationSpeed } from "./aggregation.ts";
import { CONTENDERS } from "./contenders.ts";
import type { CrowdTrial } from "./crowd.ts";
import type { Freshness } from "./freshness.ts";
import { crowdTable, freshnessTable } from "./markdown.ts";
import type { Overhead } from "./overhead.ts";
import type { Latencies } from "./rig.ts";
import type { Trial } from "./trial.ts";

export interface Results {
  readonly limits: WriteLimits;
  readonly latencies: Latencies;
  readonly trials: readonly Trial[];
  readonly overhead: readonly Overhead[];
  readonly aggregation: readonly AggregationSpeed[];
  readonly freshness: readonly Freshness[];
  readonly crowds: readonly CrowdTrial[];
}

/** Where the results of a whole run are kept. */
export const KEPT = fileURLToPath(new URL("results/bench.json", import.meta.url));

/** What happened later than anybody waited is `null` in the file. */
export function record(file: string, results: Results): void {
  const version = (name: string) =>
    JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), "utf8")).version;
  const machine = { cores: cpus().length, cpu: cpus()[0]?.model, node: process.version };
  const versions = Object.fromEntries(
    ["firebase", "@google-cloud/firestore", "firebase-tools"].map((one) => [one, version(one)]),
  );
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `${JSON.stringify({ measuredAt: new Date().toISOString(), machine, versions, ...results }, null, 2)}\n`,
  );
}

export function print({ limits, latencies, trials, overhead, aggregation, freshness, crowds }: Results): void {
  if (trials.length > 0) {
    console.log(
      `\nA document takes ${limits.perSecond} write(s) per second, ${limits.burst} at once after a rest; a write that would ` +
        `have to wait longer than ${limits.longestWait / 1_000} s is ABORTED.\nLatency each way: ${latencies.clients} ms for ` +
        `clients, ${latencies.functions} ms for functions.`,
    );
    console.log(
      "\nSpeed: acknowledgement and freshness are from when an increment was to be made, p50 / p95 / p99 in seconds",
    );
    console.log(speeds(trials));
    console.log(
      "\nExactness, and the cost of 1,000 increments, clients and functions together, without those who watch",
    );
    console.log(costs(trials));
    console.log("The floor is $1.80 per million: the write of the increment itself.");
  }
  if (overhead.length > 0) {
    console.log("\nTally's client and the same write made by hand, in turns, without a governor");
    console.log(overheads(overhead));
  }
  if (aggregation.length > 0) {
    console.log("\nAggregation: counters measured and published, by the functions' code in one process");
    console.log(aggregations(aggregation));
  }
  if (freshness.length > 0) {
    console.log("\nFreshness: milliseconds from an increment's acknowledgement to a watched total that holds it\n");
    console.log(freshnessTable(freshness));
  }
  if (crowds.length > 0) {
    console.log("\nA cold crowd: seconds; shards as published / shard documents\n");
    console.log(crowdTable(crowds));
  }
}

function table(head: readonly string[], left: number, rows: readonly (readonly (string | number)[])[]): string {
  const colAligns = head.map((_, n) => (n < left ? ("left" as const) : ("right" as const)));
  const made = new Table({ head: [...head], colAligns, style: { head: [], border: [] } });
  made.push(...rows.map((row) => [...row]));
  return made.toString();
}

function speeds(trials: readonly Trial[]): string {
  return table(
    [
      "load",
      "contender",
      "accepted/s",
      "acknowledgement",
      "freshness",
      "step absorbed",
      "totals/s",
      "aborted",
      "errors",
    ],
    2,
    trials.map((trial) => [
      trial.load,
      CONTENDERS[trial.contender].title,
      trial.acceptedPerSecond.toFixed(1),
      percentiles(trial.acknowledgement),
      percentiles(trial.freshness),
      trial.isStep ? seconds(trial.absorbedAfter) : "",
      trial.totalsPerSecond.toFixed(1),
      trial.aborted,
      Object.values(trial.errors).reduce((sum, one) => sum + one, 0),
    ]),
  );
}

function costs(trials: readonly Trial[]): string {
  return table(
    [
      "load",
      "contender",
      "acknowledged",
      "exact",
      "documents",
      "reads",
      "writes",
      "deletes",
      "invoc.",
      "$ per million",
      "reads/s, watcher",
    ],
    2,
    trials.map(({ per1000, ...trial }) => [
      trial.load,
      CONTENDERS[trial.contender].title,
      `${trial.acknowledged} of ${trial.offered}`,
      trial.exact ? "yes" : `NO: ${trial.total}, seen ${trial.visible}`,
      trial.documents,
      ...[per1000.reads, per1000.writes, per1000.deletes, per1000.invocations].map((one) => one.toFixed(0)),
      trial.dollarsPerMillion.toFixed(2),
      trial.watcherReadsPerSecond.toFixed(1),
    ]),
  );
}

function overheads(overhead: readonly Overhead[]): string {
  return table(
    ["", "Tally, writes/s", "by hand, writes/s", "ratio"],
    1,
    overhead.map(({ name, tally, raw, ratio }) => [name, tally.toFixed(0), raw.toFixed(0), ratio.toFixed(3)]),
  );
}

function aggregations(aggregation: readonly AggregationSpeed[]): string {
  return table(
    ["shards", "per second", "per second and core", "ms, p50 / p95 / p99"],
    0,
    aggregation.map(({ shards, perSecond, perCoreSecond, took }) => [
      shards,
      perSecond.toFixed(1),
      perCoreSecond.toFixed(1),
      [took.p50, took.p95, took.p99].map((one) => one.toFixed(0)).join(" / "),
    ]),
  );
}

function percentiles({ p50, p95, p99 }: Percentiles): string {
  return [p50, p95, p99].map(seconds).join(" / ");
}

function seconds(duration: Millis): string {
  return Number.isFinite(duration) ? (duration / 1_000).toFixed(2) : "∞";
}

/** The results of each part, as they are recorded in `bench/results/` and read for tables and charts. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ColdStart } from "./coldStart.ts";
import type { LoadResult } from "./contest.ts";
import type { CrowdResult } from "./crowd.ts";
import type { Freshness } from "./freshness.ts";
import type { Conditions } from "./meteredEmulators.ts";
import type { Overhead } from "./overhead.ts";
import type { ShardSizes } from "./simulation/shardSizes.ts";
import type { SimulatedRun } from "./simulation/summary.ts";
import type { TotalsResult } from "./totalsReaders.ts";

/** One array for each file. */
export interface Results {
  readonly contest: LoadResult;
  /** A load of the contest in slow motion. */
  readonly slow: LoadResult;
  readonly costs: LoadResult;
  readonly overhead: Overhead;
  readonly freshness: Freshness;
  readonly crowd: CrowdResult;
  readonly coldStart: ColdStart;
  readonly simulation: SimulatedRun;
  readonly shardSizes: ShardSizes;
  readonly totals: TotalsResult;
}
export type Part = keyof Results;

export interface Recording<Name extends Part> {
  readonly recordedOn: string;
  readonly machine: { readonly cores: number; readonly cpu: string; readonly node: string };
  readonly versions: Readonly<Record<string, string>>;
  readonly conditions?: Conditions;
  readonly results: readonly Results[Name][];
}

export function resultsFile(name: Part): string {
  return fileURLToPath(new URL(`results/${name}.json`, import.meta.url));
}

export function record<Name extends Part>(
  file: string,
  results: readonly Results[Name][],
  conditions?: Conditions,
): void {
  const version = (name: string) =>
    JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), "utf8")).version;
  const versions = ["firebase", "@google-cloud/firestore", "firebase-tools"].map((name) => [name, version(name)]);
  const recording = {
    recordedOn: new Date().toISOString().slice(0, 10),
    machine: { cores: cpus().length, cpu: cpus()[0]?.model, node: process.version },
    versions: Object.fromEntries(versions),
    ...(conditions && { conditions }),
    results,
  };
  // Five digits, and a line for each result.
  const rounded = (_: string, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(5)) : value);
  const lines = recording.results.map((result) => JSON.stringify(result, rounded));
  const { results: _, ...head } = recording;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(head).slice(0, -1)},\n"results":[\n${lines.join(",\n")}\n]}\n`);
}

/** `Infinity` is `null` in the file. */
export function readResults<Name extends Part>(name: Name): Recording<Name> {
  return JSON.parse(readFileSync(resultsFile(name), "utf8"), (_, value) => value ?? Number.POSITIVE_INFINITY);
}

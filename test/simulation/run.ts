/** Builds simulations, and runs many seeds on every core. */

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { bundle } from "./bundle.ts";
import type { SeedRange, SeedReport } from "./bundleEntry.ts";

/** Seeds in each message to a worker. When one finds a failure, the others finish theirs. */
const CHUNK = 10;

/** A bundle of the simulation with the code under test. */
export interface Build {
  /** Path of the bundle, to import. */
  readonly path: string;
  remove(): void;
}

export async function buildSimulation(): Promise<Build> {
  const folder = mkdtempSync(join(tmpdir(), "tally-simulation-"));
  return {
    path: await bundle(join(folder, "simulation.mjs")),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * Runs a range of seeds until one fails.
 *
 * @param onProgress  called with the sums so far
 * @returns           the sums, and the smallest failing seed that was found
 */
export async function runSeeds(
  build: Build,
  { world, mutation, from, count }: SeedRange,
  onProgress: (report: SeedReport) => void = () => {},
): Promise<SeedReport> {
  let total: SeedReport = { runs: 0, commits: 0, publishes: 0, unrecognizedReplays: 0, faults: {}, lateness: {} };
  let next = from;
  const work = async () => {
    const worker = new Worker(build.path);
    while (next < from + count && !total.failed) {
      const chunk = { world, mutation, from: next, count: Math.min(CHUNK, from + count - next) };
      next += CHUNK;
      worker.postMessage(chunk);
      const [report] = (await once(worker, "message")) as [SeedReport];
      total = add(total, report);
      onProgress(total);
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), Math.ceil(count / CHUNK)) }, work));
  return total;
}

function add(a: SeedReport, b: SeedReport): SeedReport {
  const faults = { ...a.faults };
  for (const [kind, times] of Object.entries(b.faults)) faults[kind] = (faults[kind] ?? 0) + times;
  const lateness = { ...a.lateness };
  for (const [kind, millis] of Object.entries(b.lateness)) lateness[kind] = (lateness[kind] ?? []).concat(millis);
  const failed = [a.failed, b.failed].filter((one) => one !== undefined).sort((one, other) => one.seed - other.seed)[0];
  return {
    runs: a.runs + b.runs,
    commits: a.commits + b.commits,
    publishes: a.publishes + b.publishes,
    unrecognizedReplays: a.unrecognizedReplays + b.unrecognizedReplays,
    faults,
    lateness,
    ...(failed && { failed }),
  };
}

/** Runs many seeds, on every core. */

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { bundle, type Seam } from "./bundle.ts";
import type { Range, Report } from "./entry.ts";

/** Seeds that a worker takes at a time. */
const CHUNK = 100;

/** A simulation with the code under test in it, as it is or with a mistake. */
export interface Build {
  /** Of the bundle, to import. */
  readonly path: string;
  remove(): void;
}

export async function buildSimulation(mutation?: { readonly name: string; readonly seam: Seam }): Promise<Build> {
  const folder = mkdtempSync(join(tmpdir(), "tally-simulation-"));
  return {
    path: await bundle(join(folder, "simulation.mjs"), mutation),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * Runs the seeds from `from` on, until one fails.
 *
 * @param onProgress  called with what came of the seeds so far
 * @returns           of the seeds that failed, the smallest that was found
 */
export async function runSeeds(
  build: Build,
  { from, count }: Range,
  onProgress: (report: Report) => void = () => {},
): Promise<Report> {
  let total: Report = { runs: 0, commits: 0, publishes: 0, unrecognized: 0, faults: {} };
  let next = from;
  const work = async () => {
    const worker = new Worker(build.path);
    while (next < from + count && !total.failed) {
      const chunk = { from: next, count: Math.min(CHUNK, from + count - next) };
      next += CHUNK;
      worker.postMessage(chunk);
      const [report] = (await once(worker, "message")) as [Report];
      total = add(total, report);
      onProgress(total);
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), Math.ceil(count / CHUNK)) }, work));
  return total;
}

function add(a: Report, b: Report): Report {
  const faults = { ...a.faults };
  for (const [kind, times] of Object.entries(b.faults)) faults[kind] = (faults[kind] ?? 0) + times;
  const failed = [a.failed, b.failed].filter((one) => one !== undefined).sort((one, other) => one.seed - other.seed)[0];
  return {
    runs: a.runs + b.runs,
    commits: a.commits + b.commits,
    publishes: a.publishes + b.publishes,
    unrecognized: a.unrecognized + b.unrecognized,
    faults,
    ...(failed && { failed }),
  };
}

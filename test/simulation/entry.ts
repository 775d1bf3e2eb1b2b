/** What the bundle exports. Run as a worker, it answers each range of seeds it is sent with what came of them. */
import { isMainThread, parentPort } from "node:worker_threads";
import { FAULTS } from "./faults.ts";
import { minimize } from "./minimize.ts";
import { scenarioOf } from "./scenario.ts";
import { type Outcome, simulate } from "./simulate.ts";

export { FAULTS, minimize, scenarioOf, simulate };

export interface Range {
  readonly from: number;
  readonly count: number;
}

/** What came of a range of seeds, up to the first that failed. */
export interface Report {
  readonly runs: number;
  readonly commits: number;
  readonly publishes: number;
  readonly unrecognized: number;
  readonly faults: Record<string, number>;
  readonly failed?: { readonly seed: number; readonly message: string };
}

async function run({ from, count }: Range): Promise<Report> {
  const sums = { runs: 0, commits: 0, publishes: 0, unrecognized: 0 };
  const faults: Record<string, number> = {};
  for (let seed = from; seed < from + count; seed++) {
    const outcome: Outcome = await simulate(scenarioOf(seed));
    sums.runs++;
    for (const name of ["commits", "publishes", "unrecognized"] as const) sums[name] += outcome[name];
    for (const [kind, times] of Object.entries(outcome.faults)) faults[kind] = (faults[kind] ?? 0) + times;
    if (outcome.violation) return { ...sums, faults, failed: { seed, message: outcome.violation.message } };
  }
  return { ...sums, faults };
}

if (!isMainThread) parentPort?.on("message", async (range: Range) => parentPort?.postMessage(await run(range)));

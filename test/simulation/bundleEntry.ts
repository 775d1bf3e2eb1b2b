/** The exports of the bundle. In a worker, it answers each range of seeds with a report. */
import { isMainThread, parentPort } from "node:worker_threads";
import { FAILING_STEPS } from "./failingSteps.ts";
import { FAULTS } from "./faults.ts";
import { minimize } from "./minimize.ts";
import { replayingLate } from "./mutations/direct.ts";
import type { World } from "./mutations/mutation.ts";
import { mutations } from "./mutations.ts";
import { regionsScenarioOf, simulateRegions } from "./regions.ts";
import { adoptedScenarioOf } from "./scenario/adoptedScenarioOf.ts";
import { calmScenarioOf } from "./scenario/calmScenarioOf.ts";
import { failingScenarioOf } from "./scenario/failingScenarioOf.ts";
import type { Scenario } from "./scenario/scenario.ts";
import { scenarioOf } from "./scenario/scenarioOf.ts";
import { worstKindOf, worstScenarioOf } from "./scenario/worstScenarioOf.ts";
import { type Options, type Outcome, simulate } from "./simulate.ts";
import { simulateUsers, usersAtRest, usersScenarioOf } from "./users.ts";

const STEPS = Object.keys(FAILING_STEPS);

export {
  calmScenarioOf,
  FAULTS,
  minimize,
  mutations,
  replayingLate,
  run,
  STEPS as FAILING_STEPS,
  scenarioOf,
  simulate,
  simulateWorld,
  usersAtRest,
};

/** The worlds of one database. */
const SCENARIOS = {
  "one database": scenarioOf,
  failing: failingScenarioOf,
  worst: worstScenarioOf,
  adopted: adoptedScenarioOf,
  calm: calmScenarioOf,
} satisfies Record<Exclude<World, "regions" | "users">, (seed: number) => Scenario>;

/** The run of a seed in one of the worlds. */
function simulateWorld(world: World = "one database", seed: number, options: Options): Promise<Outcome> {
  if (world === "users") return simulateUsers(usersScenarioOf(seed), options);
  if (world === "regions") return simulateRegions(regionsScenarioOf(seed), options);
  return simulate(SCENARIOS[world](seed), options);
}

export interface SeedRange {
  /** Default: one database. */
  readonly world?: World | undefined;
  /** The name of a mutation. */
  readonly mutation?: string | undefined;
  readonly from: number;
  readonly count: number;
}

/** The result of a range of seeds, up to the first that failed. */
export interface SeedReport {
  readonly runs: number;
  readonly commits: number;
  readonly publishes: number;
  readonly unrecognizedReplays: number;
  readonly faults: Record<string, number>;
  /** In the world of worst settings: kind of fault → how late each write was published, in milliseconds. */
  readonly lateness: Record<string, readonly number[]>;
  readonly failed?: { readonly seed: number; readonly message: string };
}

async function run({ world, mutation, from, count }: SeedRange): Promise<SeedReport> {
  const options = { mutation: mutation === undefined ? undefined : mutations[mutation] };
  const sums = { runs: 0, commits: 0, publishes: 0, unrecognizedReplays: 0 };
  const faults: Record<string, number> = {};
  const lateness: Record<string, number[]> = {};
  for (let seed = from; seed < from + count; seed++) {
    const outcome = await simulateWorld(world, seed, options);
    sums.runs++;
    for (const name of ["commits", "publishes", "unrecognizedReplays"] as const) sums[name] += outcome[name];
    for (const [kind, times] of Object.entries(outcome.faults)) faults[kind] = (faults[kind] ?? 0) + times;
    if (world === "worst") lateness[worstKindOf(seed)] = (lateness[worstKindOf(seed)] ?? []).concat(outcome.lateness);
    if (outcome.violation) return { ...sums, faults, lateness, failed: { seed, message: outcome.violation.message } };
  }
  return { ...sums, faults, lateness };
}

if (!isMainThread) {
  // The refusals of the model are errors, and stack traces would take a twentieth of the time.
  Error.stackTraceLimit = 0;
  parentPort?.on("message", async (range: SeedRange) => parentPort?.postMessage(await run(range)));
}

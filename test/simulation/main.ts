/**
 * The command line of the simulator.
 *
 *     npm run simulate:faults -- --seeds 1000000          # seeds 1, 2, 3, … on every core
 *     npm run simulate:faults -- --seed 4711              # this one alone, with its history
 *     npm run simulate:faults -- --regions --seeds 100000 # several databases instead of one
 *     npm run simulate:faults -- --watches --seeds 100000 # clients that watch what they count
 *     npm run simulate:faults -- --failing --seeds 100000 # a step that fails for long
 *     npm run simulate:faults -- --worst --seeds 100000   # one kind of fault at its worst: how late totals are
 *     npm run simulate:faults -- --adopted --seeds 100000 # a counter that old apps write
 *     npm run simulate:faults -- --calm --seeds 100000    # calm counters, whose increments go to their documents
 *     npm run simulate:faults -- --mutation "fold without the precondition"
 */
import { parseArgs } from "node:util";
import cliProgress from "cli-progress";
import { percentile } from "../../testkit/statistics.ts";
import type * as Entry from "./bundleEntry.ts";
import { mutations } from "./mutations.ts";
import { type Build, buildSimulation, runSeeds } from "./run.ts";

const USAGE = `Usage: npm run simulate:faults -- [options]

  --seeds N           number of seeds to run (default: 10000)
  --seed S            first seed; without --seeds, runs this seed alone and prints its history
  --regions           several regions instead of one database
  --watches           web clients watch what they count
  --adopted           old apps write a counter that was made by hand
  --calm              calm counters, whose increments go to their documents
  --users             what tabs show to users who sign in and out, reload, and go offline
  --failing           one step of the functions, such as folds, fails for long
  --worst             one kind of fault in each run, as often as it can be; prints how late totals were
  --mutation "NAME"   runs the code with a mutation of test/simulation/mutations
  --help              prints this help`;

const values = readOptions();
if (values.help) {
  console.log(USAGE);
  process.exit();
}
const first = Number(values.seed ?? 1);
const count = Number(values.seeds ?? (values.seed === undefined ? 10_000 : 1));
const { mutation } = values;
if (![first, count].every((number) => Number.isSafeInteger(number) && number > 0))
  exitWithUsage("--seed and --seeds are whole numbers from 1.");
if (mutation !== undefined && !mutations[mutation]) exitWithUsage(`Unknown mutation "${mutation}".`);

const build = await buildSimulation();
const chosenWorld = (["regions", "watches", "failing", "worst", "adopted", "calm", "users"] as const).find(
  (one) => values[one],
);
const world = chosenWorld ?? mutations[mutation ?? ""]?.world ?? "one database";
const isSingle = values.seed !== undefined && values.seeds === undefined;
process.exitCode = (isSingle ? await show(build, first) : await search(build)) ? 1 : 0;
build.remove();

function readOptions() {
  try {
    return parseArgs({
      options: {
        seeds: { type: "string" },
        seed: { type: "string" },
        mutation: { type: "string" },
        regions: { type: "boolean" },
        watches: { type: "boolean" },
        failing: { type: "boolean" },
        worst: { type: "boolean" },
        adopted: { type: "boolean" },
        calm: { type: "boolean" },
        users: { type: "boolean" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    return exitWithUsage((error as Error).message);
  }
}

function exitWithUsage(problem: string): never {
  console.error(`${problem}\n\n${USAGE}`);
  process.exit(2);
}

/** @returns whether a seed failed */
async function search(build: Build): Promise<boolean> {
  const bar = new cliProgress.SingleBar({
    format: "{bar} {value}/{total} seeds  {duration_formatted}",
    // Without a terminal, a line a minute.
    noTTYOutput: true,
    notTTYSchedule: 60_000,
    hideCursor: true,
  });
  bar.start(count, 0);
  const { runs, commits, publishes, unrecognizedReplays, faults, lateness, failed } = await runSeeds(
    build,
    { world, mutation, from: first, count },
    (report) => bar.update(report.runs),
  );
  bar.stop();
  console.log(
    `${runs} runs: ${commits} commits, ${publishes} of them publishes; ${failed ? "1 violation" : "no violation"}`,
  );
  const injected = Object.entries(faults).sort(([, a], [, b]) => b - a);
  console.log(`faults injected: ${injected.map(([kind, times]) => `${times} ${kind}`).join(", ")}`);
  console.log(
    `replays not recognized, because their mark was older than two minutes or deleted: ${unrecognizedReplays}`,
  );
  if (world === "worst") console.table(latenessTable(lateness));
  if (!failed) return false;
  console.log(`\nSeed ${failed.seed} fails. ${world === "one database" ? "Its minimized scenario" : "Its history"}:\n`);
  await show(build, failed.seed, true);
  return true;
}

/** By kind of fault: how many writes were published, and how late, in seconds. */
function latenessTable(lateness: Record<string, readonly number[]>): Record<string, object> {
  const seconds = (millis: number) => Math.round(millis / 10) / 100;
  const rowOf = (millis: readonly number[]) => ({
    writes: millis.length,
    p50: seconds(percentile(millis, 0.5)),
    p95: seconds(percentile(millis, 0.95)),
    worst: seconds(percentile(millis, 1)),
  });
  return Object.fromEntries(Object.entries(lateness).map(([kind, millis]) => [kind, rowOf(millis)]));
}

/** Prints a run. @returns whether it failed */
async function show(build: Build, seed: number, isMinimized = false): Promise<boolean> {
  const entry = (await import(build.path)) as typeof Entry;
  const planted = entry.mutations[mutation ?? ""];
  const options = { keepHistory: true, mutation: planted };
  if (world !== "one database") {
    const { history, violation } = await entry.simulateWorld(world, seed, options);
    console.log([...history, "", violation?.message ?? "no violation"].join("\n"));
    return violation !== undefined;
  }
  const { minimize, scenarioOf, simulate } = entry;
  const scenario = isMinimized ? await minimize(scenarioOf(seed), planted) : scenarioOf(seed);
  const { violation, history } = await simulate(scenario, options);
  console.log(`config: ${JSON.stringify(scenario.config)}`);
  console.log(`instances: ${scenario.instances}, faults: ${scenario.faults.join(", ") || "none"}\n`);
  for (const line of history) console.log(line);
  console.log(`\n${violation?.message ?? "no violation"}`);
  const chosen = mutation === undefined ? "" : ` --mutation "${mutation}"`;
  if (isMinimized) console.log(`\nThe whole run: npm run simulate:faults -- --seed ${seed}${chosen}`);
  return violation !== undefined;
}

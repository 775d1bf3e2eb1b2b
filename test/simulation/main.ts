/** The command line of the simulator: see its usage. Seeds run on every core; a single one prints its history. */
import { parseArgs } from "node:util";
import cliProgress from "cli-progress";
import { percentile } from "../../testkit/statistics.ts";
import type * as Entry from "./bundleEntry.ts";
import { OTHER_WORLDS } from "./mutations/mutation.ts";
import { mutations } from "./mutations.ts";
import { type Build, buildSimulation, runSeeds } from "./run.ts";

const WORLDS = Object.keys(OTHER_WORLDS) as (keyof typeof OTHER_WORLDS)[];
const USAGE = `Usage: npm run simulate:faults -- [options]

  --seeds N           number of seeds to run (default: 10000)
  --seed S            first seed; without --seeds, runs this seed alone and prints its history
${WORLDS.map((world) => `  --${world.padEnd(18)}${OTHER_WORLDS[world]}`).join("\n")}
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
const world = WORLDS.find((one) => values[one]) ?? mutations[mutation ?? ""]?.world ?? "one database";
const isSingle = values.seed !== undefined && values.seeds === undefined;
process.exitCode = (isSingle ? await show(build, first) : await search(build)) ? 1 : 0;
build.remove();

function readOptions() {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const worlds = Object.fromEntries(WORLDS.map((world) => [world, flag])) as Record<
    (typeof WORLDS)[number],
    typeof flag
  >;
  try {
    return parseArgs({ options: { ...worlds, seeds: text, seed: text, mutation: text, help: flag } }).values;
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

/**
 * The simulator's command.
 *
 *     npm run simulate:faults -- --seeds 1000000          # seeds 1, 2, 3, … on every core
 *     npm run simulate:faults -- --seed 4711              # this one alone, with its history
 *     npm run simulate:faults -- --mutation "fold without the precondition"
 */
import { parseArgs } from "node:util";
import cliProgress from "cli-progress";
import type * as Entry from "./entry.ts";
import { mutations } from "./mutations.ts";
import { type Build, buildSimulation, runSeeds } from "./run.ts";

const USAGE = `Usage: npm run simulate:faults -- [options]

  --seeds N           how many seeds to run (default: 10000)
  --seed S            the first of them; without --seeds, this one alone, with its history
  --mutation "NAME"   puts a mistake into the code first, one of test/simulation/mutations.ts
  --help              prints this`;

const values = readOptions();
if (values.help) {
  console.log(USAGE);
  process.exit();
}
const first = Number(values.seed ?? 1);
const count = Number(values.seeds ?? (values.seed === undefined ? 10_000 : 1));
const mutation = values.mutation === undefined ? undefined : mutations[values.mutation];
if (![first, count].every((number) => Number.isSafeInteger(number) && number > 0))
  refuse("A seed is a whole number from 1 on.");
if (values.mutation !== undefined && !mutation) refuse(`There is no mutation "${values.mutation}".`);

const build = await buildSimulation(mutation && { name: values.mutation as string, seam: mutation });
const isAlone = values.seed !== undefined && values.seeds === undefined;
process.exitCode = (isAlone ? await show(build, first) : await search(build)) ? 1 : 0;
build.remove();

function readOptions() {
  try {
    return parseArgs({
      options: {
        seeds: { type: "string" },
        seed: { type: "string" },
        mutation: { type: "string" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(problem: string): never {
  console.error(`${problem}\n\n${USAGE}`);
  process.exit(2);
}

/** @returns whether a seed failed */
async function search(build: Build): Promise<boolean> {
  const bar = new cliProgress.SingleBar({
    format: "{bar} {value}/{total} seeds  {duration_formatted}",
    // Where nobody watches, a line a minute.
    noTTYOutput: true,
    notTTYSchedule: 60_000,
    hideCursor: true,
  });
  bar.start(count, 0);
  const { runs, commits, publishes, unrecognized, faults, failed } = await runSeeds(
    build,
    { from: first, count },
    (report) => bar.update(report.runs),
  );
  bar.stop();
  console.log(
    `${runs} runs: ${commits} commits, ${publishes} of them publishes; ${failed ? "a violation" : "no violation"}`,
  );
  const struck = Object.entries(faults).sort(([, a], [, b]) => b - a);
  console.log(`faults injected: ${struck.map(([kind, times]) => `${times} ${kind}`).join(", ")}`);
  console.log(`replays that no client could recognize, since their mark had gone: ${unrecognized}`);
  if (!failed) return false;
  console.log(`\nSeed ${failed.seed} fails. Cut down to what it takes:\n`);
  await show(build, failed.seed, true);
  return true;
}

/** Prints a run. @returns whether it failed */
async function show(build: Build, seed: number, isCutDown = false): Promise<boolean> {
  const { minimize, scenarioOf, simulate } = (await import(build.path)) as typeof Entry;
  const scenario = isCutDown ? await minimize(scenarioOf(seed)) : scenarioOf(seed);
  const { violation, history } = await simulate(scenario, { keepHistory: true });
  console.log(`config: ${JSON.stringify(scenario.config)}`);
  console.log(`instances: ${scenario.instances}, faults: ${scenario.faults.join(", ") || "none"}\n`);
  for (const line of history) console.log(line);
  console.log(`\n${violation?.message ?? "no violation"}`);
  const chosen = values.mutation === undefined ? "" : ` --mutation "${values.mutation}"`;
  if (isCutDown) console.log(`\nAll of it: npm run simulate:faults -- --seed ${seed}${chosen}`);
  return violation !== undefined;
}

/**
 * Load that no emulator takes: the real decisions of functions and clients against a model of contended documents, on a virtual
 * clock. README.md says how it is modelled.
 *
 *     npm run simulate                                          # every scenario; recorded in bench/results/
 *     npm run simulate -- "flash crowd 1,000/s" --set precision=0 --set watching=1
 */
import { Argument, Command, InvalidArgumentError } from "commander";
import { record, resultsFile } from "../results.ts";
import { SCENARIOS, type Scenario, type Scenarios, SHARD_SCENARIOS } from "./scenarios.ts";
import { SETTINGS, withSettings } from "./settings.ts";
import { shardSizes, shardSizesTable } from "./shardSizes.ts";
import { simulate } from "./simulate.ts";
import { type SimulatedRun, summarize, timelineOf } from "./summary.ts";
import { bills, figures } from "./tables.ts";

/** The scenarios whose timelines charts show. */
const DRAWN = ["flash crowd 1,000/s", "day"];

function integer(text: string): number {
  if (!Number.isSafeInteger(Number(text))) throw new InvalidArgumentError("Give a whole number.");
  return Number(text);
}

function setting(text: string, others: string[]): string[] {
  try {
    withSettings([text]);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
  return [...others, text];
}

const program = new Command("npm run simulate --")
  .helpOption("--help")
  .addArgument(new Argument("[scenarios...]", "all by default; only these").choices([...SCENARIOS.keys()]))
  .option("--seed <n>", "another run of the same", integer, 1)
  .option("--set <name=value>", `another value of a setting: ${Object.keys(SETTINGS).join(", ")}`, setting, [])
  .option("--shards", "instead: how large shards are on Firestore's Enterprise edition")
  .addHelpText("after", "\nDurations are in milliseconds. A run with every default is recorded in bench/results/.")
  .parse();
const { seed, set, shards } = program.opts<{ seed: number; set: string[]; shards?: boolean }>();
const scenarios: Scenarios = new Map(program.args.map((name) => [name, SCENARIOS.get(name) as () => Scenario]));
if (shards && scenarios.size + set.length > 0) program.error("--shards takes no scenarios and no settings.");

/** A run with the index of `shards`, and one without it. What is not kept of an outcome is forgotten: some are large. */
function run(create: () => Scenario, name: string): SimulatedRun {
  const outcome = simulate(create(), withSettings(set), seed);
  const withoutIndex = simulate(create(), withSettings([...set, "index=0"]), seed);
  return {
    ...summarize(outcome),
    dollarsWithoutIndex: summarize(withoutIndex).dollars,
    ...(DRAWN.includes(name) && { timeline: timelineOf(outcome) }),
  };
}

/** @returns what `use` returns for each scenario, one after the other */
function runAll<Result>(scenarios: Scenarios, use: (create: () => Scenario, name: string) => Result): Result[] {
  return [...scenarios].map(([name, create]) => {
    const start = performance.now();
    const result = use(create, name);
    process.stderr.write(`${name}: ${((performance.now() - start) / 1_000).toFixed(1)} s\n`);
    return result;
  });
}

if (shards) {
  const sizes = runAll(SHARD_SCENARIOS, (create) => shardSizes(create, seed));
  console.log(`\n${shardSizesTable(sizes)}`);
  if (seed === 1) record(resultsFile("shardSizes"), sizes);
} else {
  const runs = runAll(scenarios.size > 0 ? scenarios : SCENARIOS, run);
  console.log(`\n${figures(runs)}\n\nDollars per million increments, settling included\n\n${bills(runs)}`);
  if (scenarios.size === 0 && set.length === 0 && seed === 1) record(resultsFile("simulation"), runs);
}

/**
 * Load that no emulator takes: the real decisions of functions and clients against a model of contended documents, on a virtual
 * clock. README.md says how it is modelled.
 *
 *     npm run simulate                                          # every scenario; recorded in bench/results/
 *     npm run simulate -- "flash crowd 1,000/s" --set precision=0 --set watching=1
 */
import cliProgress from "cli-progress";
import { Argument, Command, InvalidArgumentError } from "commander";
import { record, resultsFile } from "../results.ts";
import { SCENARIOS } from "./scenarios.ts";
import { SETTINGS, withSettings } from "./settings.ts";
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
  .addHelpText("after", "\nDurations are in milliseconds. A run with every default is recorded in bench/results/.")
  .parse();
const { seed, set } = program.opts<{ seed: number; set: string[] }>();
const scenarios = program.args.length > 0 ? program.args : [...SCENARIOS.keys()];

/** A run with the index of `shards`, and one without it. What is not kept of an outcome is forgotten: some are large. */
function runScenario(name: string): SimulatedRun {
  const create = SCENARIOS.get(name) as NonNullable<ReturnType<typeof SCENARIOS.get>>;
  const outcome = simulate(create(), withSettings(set), seed);
  const withoutIndex = simulate(create(), withSettings([...set, "index=0"]), seed);
  return {
    ...summarize(outcome),
    dollarsWithoutIndex: summarize(withoutIndex).dollars,
    ...(DRAWN.includes(name) && { timeline: timelineOf(outcome) }),
  };
}

const format = "{bar} {value}/{total}  {name}";
const bar = process.stderr.isTTY ? new cliProgress.SingleBar({ format, hideCursor: true }) : undefined;
bar?.start(scenarios.length, 0, { name: "" });
const runs = scenarios.map((name, n) => {
  bar?.update(n, { name });
  // The bar's own timer does not run during a simulation.
  bar?.render();
  const start = performance.now();
  const run = runScenario(name);
  if (!bar) process.stderr.write(`${name}: ${((performance.now() - start) / 1_000).toFixed(1)} s\n`);
  return run;
});
bar?.stop();

console.log(`\n${figures(runs)}\n\nDollars per million increments, settling included\n\n${bills(runs)}`);
if (program.args.length === 0 && set.length === 0 && seed === 1) record(resultsFile("simulation"), runs);

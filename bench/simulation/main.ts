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
import { ONCE_EACH, SCENARIOS, type Scenario, type Scenarios, SHARD_SCENARIOS, steady } from "./scenarios.ts";
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

function settingCalled(name: string): typeof setting {
  return (text, others) => setting(`${name}=${text}`, others);
}

function rate(text: string, others: number[]): number[] {
  if (!(Number(text) > 0)) throw new InvalidArgumentError("Give a number above 0.");
  return [...others, Number(text)];
}

const program = new Command("npm run simulate --")
  .helpOption("--help")
  .addArgument(new Argument("[scenarios...]", "all by default; only these").choices([...SCENARIOS.keys()]))
  .option("--seed <n>", "another run of the same", integer, 1)
  .option(
    "--rate <n>",
    "instead of scenarios: increments per second of one counter, by clients that make one each",
    rate,
    [],
  )
  .option("--slow <share>", "the share of clients with a slow connection: --set slow", settingCalled("slow"), [])
  .option("--round-trip <ms>", "of a slow connection: --set roundTrip", settingCalled("roundTrip"), [])
  .option("--set <name=value>", `another value of a setting: ${Object.keys(SETTINGS).join(", ")}`, setting, [])
  .option("--shards", "instead: how large shards are on Firestore's Enterprise edition")
  .addHelpText("after", "\nDurations are in milliseconds. A run with every default is recorded in bench/results/.")
  .parse();
const options = program.opts<
  Record<"set" | "slow" | "roundTrip", string[]> & { seed: number; rate: number[]; shards?: boolean }
>();
const { seed, shards } = options;
const set = [...options.slow, ...options.roundTrip, ...options.set];
const scenarios: Scenarios = new Map([
  ...program.args.map((name) => [name, SCENARIOS.get(name) as () => Scenario] as const),
  ...options.rate.map((perSecond) => [`${perSecond}/s`, () => steady(perSecond, ONCE_EACH)] as const),
]);
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

const format = "{bar} {value}/{total}  {name}";
const bar = process.stderr.isTTY ? new cliProgress.SingleBar({ format, hideCursor: true }) : undefined;

/** @returns what `use` returns for each scenario, one after the other, with progress in the terminal */
function runAll<Result>(scenarios: Scenarios, use: (create: () => Scenario, name: string) => Result): Result[] {
  bar?.start(scenarios.size, 0, { name: "" });
  const results = [...scenarios].map(([name, create], n) => {
    bar?.update(n, { name });
    // The bar's own timer does not run during a simulation.
    bar?.render();
    const start = performance.now();
    const result = use(create, name);
    if (!bar) process.stderr.write(`${name}: ${((performance.now() - start) / 1_000).toFixed(1)} s\n`);
    return result;
  });
  bar?.stop();
  return results;
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

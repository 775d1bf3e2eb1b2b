/** The command line of the benchmark. */
import { Command, InvalidArgumentError, Option } from "commander";
import { CALL_LATENCY } from "../testkit/production/calls.ts";
import { WRITE_LIMITS } from "../testkit/production/contention.ts";
import type { ApproachName } from "./approaches.ts";
import { contestLoads, costLoads, type Load } from "./loads.ts";
import { isSlow } from "./slowMotion.ts";

/** Parts of the benchmark; those of a run without `--only` come first. */
const PARTS = ["contest", "overhead", "costs", "freshness", "crowd", "coldStart"] as const;
export type BenchPart = (typeof PARTS)[number];
const APPROACH_NAMES: readonly ApproachName[] = ["single", "recipe", "tally"];
const LOAD_NAMES = [...new Set([...contestLoads(), ...costLoads()].map(({ name }) => name))];

function positive(text: string): number {
  if (!(Number(text) > 0)) throw new InvalidArgumentError("Give a positive number.");
  return Number(text);
}

/** An option that takes one or several names. */
function names(flags: string, what: string, all: readonly string[], usual = all): Option {
  return new Option(`${flags} <names...>`, what).choices(all).default(usual, usual === all ? "all" : usual.join(", "));
}

const program = new Command("npm run bench --")
  .helpOption("--help")
  .addOption(names("--only", "parts of the benchmark", PARTS, PARTS.slice(0, 2)))
  .addOption(names("--approaches", "approaches of the contest", APPROACH_NAMES))
  .addOption(names("--loads", "loads of the contest and of costs", LOAD_NAMES))
  .option("--per-second <n>", "writes per second that a document sustains", positive, WRITE_LIMITS.perSecond)
  .option("--burst <n>", "writes that it takes at once after a rest", positive, WRITE_LIMITS.burst)
  .option("--longest-wait <ms>", "a write that would wait longer is ABORTED", positive, WRITE_LIMITS.longestWait)
  .option("--slow <factor>", "on a slower clock, for loads that this machine cannot carry", positive)
  .option("--out <file>", "where the results of a part go (default: bench/results/, if no other option is given)")
  .parse();

export const options = program.opts<{
  readonly only: readonly BenchPart[];
  readonly approaches: readonly ApproachName[];
  readonly loads: readonly string[];
  readonly perSecond: number;
  readonly burst: number;
  readonly longestWait: number;
  readonly slow?: number;
  readonly out?: string;
}>();
if (options.out && options.only.length > 1) program.error("--out takes the results of one part: name it with --only.");

/** Whether the results are those that the documents show, and so are recorded. */
export const hasDefaults = Object.keys(options).every(
  (name) => name === "only" || program.getOptionValueSource(name) === "default",
);

const isChosen = ({ name }: Load) => options.loads.includes(name);
export const loads = {
  contest: contestLoads(isSlow()).filter(isChosen),
  costs: costLoads().filter(isChosen),
};

export const conditions = {
  limits: { perSecond: options.perSecond, burst: options.burst, longestWait: options.longestWait },
  latencies: CALL_LATENCY,
};

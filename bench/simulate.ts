/**
 * Load that no emulator takes: the real decisions of functions and clients against a model of hot documents, on a virtual
 * clock. How it is modelled, and what is not, is in bench/simulation/README.md.
 *
 *     npm run simulate                                            # every trace, before and after
 *     npm run simulate -- --trace "flash crowd 1,000/s" --set growthFactor=3 --set watching=1
 *     npm run simulate -- --tune flash                            # what was tried, in a table
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import cliProgress from "cli-progress";
import type { Design } from "./simulation/design.ts";
import { costs, figures, popularity } from "./simulation/report.ts";
import { SETTINGS, type Settings, withSettings } from "./simulation/settings.ts";
import { type Outcome, simulate } from "./simulation/simulate.ts";
import { averaged, byPopularity, summarize, timeline } from "./simulation/summary.ts";
import { AUDIENCES, onceEach, steady, TRACES, type Trace } from "./simulation/traces.ts";
import { EXPERIMENTS, nameOf, STAGES } from "./simulation/tuning.ts";

const RESULTS = new URL("./results/", import.meta.url);

/** Rates whose cost is of interest. */
const RATES = [1, 10, 50, 100, 1_000];
const STEADY: (() => Trace)[] = AUDIENCES.flatMap((audience) => RATES.map((rate) => () => steady(rate, audience)));

/** What was tried was tried on what is deployed. */
const { design: DEPLOYED } = STAGES.at(-1) as (typeof STAGES)[number];

const names = (all: readonly (() => Trace)[]) => all.map((make) => `"${make().name}"`).join(", ");
const USAGE = `Usage: npm run simulate -- [options]

  --trace NAME       one trace alone, several with several of them: ${names(TRACES)}, "steady", "once each"
  --seed S           another run of the same (default: 1)
  --set NAME=VALUE   another value of a setting; several with several of them: ${Object.keys(SETTINGS).join(", ")}
  --tune NAME        instead, what was tried for the defaults: ${EXPERIMENTS.map(({ name }) => name).join(", ")}, or all of it: all
  --help             prints this

Durations are in milliseconds. A run with every default is recorded in bench/results/.`;

const { trace: wanted, seed: seedText, set, tune, help } = readOptions();
if (help) {
  console.log(USAGE);
  process.exit();
}
const seed = Number(seedText ?? 1);
if (!Number.isSafeInteger(seed)) refuse("A seed is a whole number.");
const settings = chosenSettings();
if (tune === undefined) runTraces();
else runExperiments(tune);

function readOptions() {
  try {
    return parseArgs({
      options: {
        trace: { type: "string", multiple: true },
        seed: { type: "string" },
        set: { type: "string", multiple: true, default: [] },
        tune: { type: "string" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function chosenSettings(): Settings {
  try {
    return withSettings(set);
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(problem: string): never {
  console.error(`${problem}\n\n${USAGE}`);
  process.exit(2);
}

interface Run {
  readonly label: readonly string[];
  readonly make: () => Trace;
  readonly design: Design;
  readonly settings: Settings;
}

/** Runs one after the other, showing how far it is. What is not kept of an outcome is forgotten: some are large. */
function perform<T>(runs: readonly Run[], keep: (outcome: Outcome, run: Run) => T, repeats = 1): T[][] {
  const format = "{bar} {value}/{total}  {doing}";
  const bar = process.stderr.isTTY ? new cliProgress.SingleBar({ format, hideCursor: true }) : undefined;
  bar?.start(runs.length, 0, { doing: "" });
  const kept = runs.map((run) => {
    const doing = run.label.join(", ");
    bar?.update({ doing });
    // Its timer does not come to it while a simulation runs.
    bar?.render();
    const began = performance.now();
    const results = Array.from({ length: repeats }, (_, i) =>
      keep(simulate(run.make(), run.design, run.settings, seed + i), run),
    );
    bar?.increment();
    if (!bar) process.stderr.write(`${doing}: ${((performance.now() - began) / 1_000).toFixed(1)} s\n`);
    return results;
  });
  bar?.stop();
  return kept;
}

function performOnce<T>(runs: readonly Run[], keep: (outcome: Outcome, run: Run) => T): T[] {
  return perform(runs, keep).flat();
}

/** Before, between and now. */
function inEveryStage(makes: readonly (() => Trace)[]): Run[] {
  return makes.flatMap((make) =>
    STAGES.map(({ name, design, settings: changed }): Run => {
      return { label: [make().name, name], make, design, settings: withSettings([...changed, ...set]) };
    }),
  );
}

function runTraces(): void {
  const isWanted = (name: string) => !wanted || wanted.includes(name);
  const unknown = wanted?.find(
    (name) => !["steady", "once each"].includes(name) && !TRACES.some((make) => make().name === name),
  );
  if (unknown !== undefined) refuse(`There is no trace "${unknown}".`);

  const traces = performOnce(inEveryStage(TRACES.filter((make) => isWanted(make().name))), (outcome, { label }) => {
    const classes = outcome.trace.name.startsWith("Zipf") ? byPopularity(outcome) : undefined;
    return { label, of: summarize(outcome), timeline: timeline(outcome), classes };
  });
  const others = [...(isWanted("steady") ? STEADY : []), ...(isWanted("once each") ? [() => onceEach()] : [])];
  const rates = performOnce(inEveryStage(others), (outcome, { label: [, design = ""] }) => {
    const { about, name } = outcome.trace;
    return { label: [name === "once each" ? name : about, design], of: summarize(outcome) };
  });

  const head = ["traffic", "design"];
  if (traces.length > 0) {
    console.log(`\nTraces\n\n${figures(traces, head)}`);
    console.log(`\nDollars per million increments, settling included\n\n${costs(traces, head)}`);
  }
  if (rates.length > 0) {
    console.log(`\nSteady rates of a young counter\n\n${figures(rates, head)}`);
    console.log(`\nDollars per million increments\n\n${costs(rates, head)}`);
  }
  for (const { label, classes } of traces)
    if (classes) console.log(`\n${label.join(", ")}: dollars per million, by popularity\n\n${popularity(classes)}`);

  if (wanted || set.length > 0) return;
  const recorded = traces.map(({ label, of, ...more }) => ({ ...of, design: label[1], ...more }));
  record("simulate.json", {
    seed,
    settings,
    traces: recorded,
    rates: rates.map(({ of, label }) => ({ ...of, trace: label[0], design: label[1] })),
  });
}

function runExperiments(name: string): void {
  const some = EXPERIMENTS.filter((one) => name === "all" || one.name === name);
  if (some.length === 0) refuse(`There is no experiment "${name}".`);
  const results = some.map(({ name: experiment, question, traces, variants, repeats }) => {
    const runs = traces.flatMap((make) =>
      variants.map((variant): Run => {
        const changed = withSettings(variant.split(" ").filter(Boolean), settings);
        return { label: [make().name, nameOf(variant)], make, design: DEPLOYED, settings: changed };
      }),
    );
    const rows = perform(runs, (outcome) => summarize(outcome), repeats).map((summaries, i) => {
      return { label: (runs[i] as Run).label, of: averaged(summaries) };
    });
    console.log(`\n${question}\n\n${figures(rows, ["traffic", "settings"])}`);
    return { name: experiment, question, rows: rows.map(({ label, of }) => ({ variant: label[1], ...of })) };
  });
  if (name === "all" && set.length === 0) record("tuning.json", { seed, settings, experiments: results });
}

function record(file: string, results: unknown): void {
  mkdirSync(RESULTS, { recursive: true });
  const rounded = (_: string, value: unknown) =>
    typeof value === "number" && Number.isFinite(value) ? Number(value.toPrecision(5)) : value;
  writeFileSync(new URL(file, RESULTS), `${JSON.stringify(results, rounded)}\n`);
}

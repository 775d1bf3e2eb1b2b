/**
 * Load that no emulator takes: the real decisions of functions and clients against a model of hot documents, on a virtual
 * clock. How it is modelled, and what is not, is in bench/simulation/README.md.
 *
 *     npm run simulate                                            # every trace, with the index and without
 *     npm run simulate -- --trace "flash crowd 1,000/s" --set precision=0 --set watching=1
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import cliProgress from "cli-progress";
import { costs, figures, popularity } from "./simulation/report.ts";
import { SETTINGS, type Settings, withSettings } from "./simulation/settings.ts";
import { type Outcome, simulate } from "./simulation/simulate.ts";
import { byPopularity, type Summary, summarize, timeline } from "./simulation/summary.ts";
import { AUDIENCES, onceEach, steady, TRACES, type Trace } from "./simulation/traces.ts";

const RESULTS = new URL("./results/", import.meta.url);

/** Rates whose cost is of interest. */
const RATES = [0.5, 1, 10, 100, 1_000];
const STEADY: (() => Trace)[] = AUDIENCES.flatMap((audience) => RATES.map((rate) => () => steady(rate, audience)));

/** With the index of `shards`, and where it is not deployed. */
const INDEXED = { "with the index": "index=1", "without it": "index=0" } as const;

const names = (all: readonly (() => Trace)[]) => all.map((make) => `"${make().name}"`).join(", ");
const USAGE = `Usage: npm run simulate -- [options]

  --trace NAME       one trace alone, several with several of them: ${names(TRACES)}, "steady", "once each"
  --seed S           another run of the same (default: 1)
  --set NAME=VALUE   another value of a setting; several with several of them: ${Object.keys(SETTINGS).join(", ")}
  --help             prints this

Durations are in milliseconds. A run with every default is recorded in bench/results/.`;

const { trace: wanted, seed: seedText, set, help } = readOptions();
if (help) {
  console.log(USAGE);
  process.exit();
}
const seed = Number(seedText ?? 1);
if (!Number.isSafeInteger(seed)) refuse("A seed is a whole number.");
const settings = chosenSettings();
runTraces();

function readOptions() {
  try {
    return parseArgs({
      options: {
        trace: { type: "string", multiple: true },
        seed: { type: "string" },
        set: { type: "string", multiple: true, default: [] },
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
  readonly label: readonly [traffic: string, index: string];
  readonly make: () => Trace;
  readonly settings: Settings;
}

/** Runs one after the other, showing how far it is. What is not kept of an outcome is forgotten: some are large. */
function perform<T>(runs: readonly Run[], keep: (outcome: Outcome, run: Run) => T): T[] {
  const format = "{bar} {value}/{total}  {doing}";
  const bar = process.stderr.isTTY ? new cliProgress.SingleBar({ format, hideCursor: true }) : undefined;
  bar?.start(runs.length, 0, { doing: "" });
  const kept = runs.map((run) => {
    const doing = run.label.join(", ");
    bar?.update({ doing });
    // Its timer does not come to it while a simulation runs.
    bar?.render();
    const began = performance.now();
    const result = keep(simulate(run.make(), run.settings, seed), run);
    bar?.increment();
    if (!bar) process.stderr.write(`${doing}: ${((performance.now() - began) / 1_000).toFixed(1)} s\n`);
    return result;
  });
  bar?.stop();
  return kept;
}

function withAndWithoutIndex(makes: readonly (() => Trace)[]): Run[] {
  return makes.flatMap((make) =>
    Object.entries(INDEXED).map(([name, setting]): Run => {
      return { label: [make().name, name], make, settings: withSettings([setting], settings) };
    }),
  );
}

function runTraces(): void {
  const isWanted = (name: string) => !wanted || wanted.includes(name);
  const unknown = wanted?.find(
    (name) => !["steady", "once each"].includes(name) && !TRACES.some((make) => make().name === name),
  );
  if (unknown !== undefined) refuse(`There is no trace "${unknown}".`);

  const traces = perform(withAndWithoutIndex(TRACES.filter((make) => isWanted(make().name))), (outcome, { label }) => {
    const classes = outcome.trace.name.startsWith("Zipf") ? byPopularity(outcome) : undefined;
    return { label, of: summarize(outcome), timeline: timeline(outcome), classes };
  });
  const others = [...(isWanted("steady") ? STEADY : []), ...(isWanted("once each") ? [() => onceEach()] : [])];
  const rates = perform(withAndWithoutIndex(others), (outcome, { label: [, index] }) => {
    const { about, name } = outcome.trace;
    return { label: [name === "once each" ? name : about, index], of: summarize(outcome) };
  });

  const head = ["traffic", "index"];
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
  const indexed = <T extends { readonly label: readonly string[] }>(runs: readonly T[]) =>
    runs.filter(({ label }) => label[1] === "with the index");
  const without = (runs: readonly { readonly of: Summary }[], n: number) => runs[2 * n + 1]?.of.dollars;
  record("simulate.json", {
    seed,
    settings,
    traces: indexed(traces).map(({ of, timeline: drawn }, n) => {
      return { ...of, dollarsWithoutIndex: without(traces, n), timeline: drawn };
    }),
    rates: indexed(rates).map(({ label, of }, n) => {
      return { ...of, trace: label[0], dollarsWithoutIndex: without(rates, n) };
    }),
  });
}

function record(file: string, results: unknown): void {
  mkdirSync(RESULTS, { recursive: true });
  const rounded = (_: string, value: unknown) =>
    typeof value === "number" && Number.isFinite(value) ? Number(value.toPrecision(5)) : value;
  writeFileSync(new URL(file, RESULTS), `${JSON.stringify(results, rounded)}\n`);
}

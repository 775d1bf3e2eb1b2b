/**
 * Tally beside one document and beside the documented recipe, under the same loads, through the same governor; and what
 * its client and its aggregation take by themselves.
 *
 *     npm run bench -- [--contenders single,recipe,tally] [--loads idle,10/s,…] [--seconds N] [--per-second N] …
 */
import { parseArgs } from "node:util";
import type { ContenderName } from "./contenders.ts";
import { DEFAULT_LIMITS } from "./governor.ts";
import { loads } from "./loads.ts";
import { KEPT, print, type Results, record } from "./report.ts";
import { startRig } from "./rig.ts";
import { isSlow, runAgain } from "./slowMotion.ts";

const PARTS = ["contest", "overhead", "aggregation"] as const;
const NAMES: readonly ContenderName[] = ["single", "recipe", "tally"];
const LATENCIES = { clients: 25, functions: 2 };

const USAGE = `Usage: npm run bench -- [options]

  --only PART,…          of ${PARTS.join(", ")} (default: all)
  --contenders NAME,…    of ${NAMES.join(", ")} (default: all)
  --loads LOAD,…         of ${loads()
    .map(({ name }) => name)
    .join(", ")} (default: all)
  --seconds N            how long each load is measured
  --per-second N         writes per second that a document sustains (default: ${DEFAULT_LIMITS.perSecond})
  --burst N              writes that it takes at once after a rest (default: ${DEFAULT_LIMITS.burst})
  --longest-wait SECONDS how long a write waits before it is ABORTED instead (default: ${DEFAULT_LIMITS.longestWait / 1_000})
  --latency MS           between clients and Firestore, each way (default: ${LATENCIES.clients})
  --slow N               on a clock N times slower, for loads that this machine cannot carry
  --out FILE             where the results go (default: of a whole run, bench/results/bench.json)`;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    contenders: { type: "string" },
    loads: { type: "string" },
    seconds: { type: "string" },
    "per-second": { type: "string" },
    burst: { type: "string" },
    "longest-wait": { type: "string" },
    latency: { type: "string" },
    slow: { type: "string" },
    out: { type: "string" },
    help: { type: "boolean" },
  },
});

if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
function refuse(problem: string): never {
  console.error(`${problem}\n\n${USAGE}`);
  process.exit(1);
}
function chosen<Name extends string>(option: "only" | "contenders" | "loads", from: readonly Name[]): Name[] {
  const names = values[option]?.split(",") ?? from;
  for (const name of names) {
    if (!from.includes(name as Name)) refuse(`--${option} ${name}: it is one of ${from.join(", ")}.`);
  }
  return names as Name[];
}
function positive(
  option: "seconds" | "per-second" | "burst" | "longest-wait" | "latency" | "slow",
): number | undefined {
  const value = values[option] === undefined ? undefined : Number(values[option]);
  if (value !== undefined && !(value > 0)) refuse(`--${option} ${values[option]}: it is a positive number.`);
  return value;
}

const slow = positive("slow");
if (slow !== undefined && !isSlow()) runAgain(slow);

const parts = chosen("only", PARTS);
const contenders = chosen("contenders", NAMES);
const offered = loads(positive("seconds"), isSlow());
const names = chosen(
  "loads",
  offered.map(({ name }) => name),
);
const longestWait = positive("longest-wait");
const limits = {
  perSecond: positive("per-second") ?? DEFAULT_LIMITS.perSecond,
  burst: positive("burst") ?? DEFAULT_LIMITS.burst,
  longestWait: longestWait ? longestWait * 1_000 : DEFAULT_LIMITS.longestWait,
};
const latencies = { ...LATENCIES, clients: positive("latency") ?? LATENCIES.clients };

const isWhole = !Object.values(values).some((value) => value !== undefined);
const out = values.out ?? (isWhole ? KEPT : undefined);

/** Whatever happens, the emulators do not outlive us. */
const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => interruption.abort());

process.stderr.write("Starting the emulators… ");
const rig = await startRig(limits, latencies, interruption.signal);
process.stderr.write("ready.\n");
interruption.signal.addEventListener("abort", async () => {
  console.error("\nInterrupted.");
  await rig.stop();
  process.exit(130);
});
try {
  // Only now, because they look for the suite when they are loaded.
  const { runTrial } = await import("./trial.ts");
  const { measureOverhead } = await import("./overhead.ts");
  const { measureAggregation } = await import("./aggregation.ts");
  const results = { limits, latencies, trials: [], overhead: [], aggregation: [] } as Mutable<Results>;
  /** Says what is under way, and how long it took. */
  const step = async <Result>(what: string, run: () => Promise<Result>): Promise<Result> => {
    const start = performance.now();
    process.stderr.write(`${what}… `);
    const result = await run();
    process.stderr.write(`${((performance.now() - start) / 1_000).toFixed(0)} s.\n`);
    return result;
  };

  if (parts.includes("contest")) {
    await step("Warming up", async () => {
      const warmUp = { name: "warm-up", ...{ before: { perSecond: 1, seconds: 1 } }, clients: 20, counters: 1 };
      for (const name of contenders) await runTrial(rig, name, { ...warmUp, measured: { perSecond: 20, seconds: 3 } });
    });
    for (const load of offered.filter(({ name }) => names.includes(name))) {
      for (const name of contenders) {
        results.trials.push(await step(`${load.name}, ${name}`, () => runTrial(rig, name, load)));
      }
    }
  }
  if (parts.includes("overhead")) {
    results.overhead.push(...(await step("The client's overhead", () => measureOverhead(rig.emulator))));
  }
  if (parts.includes("aggregation")) {
    results.aggregation.push(...(await step("Aggregation", measureAggregation)));
  }
  print(results);
  if (out) {
    record(out, results);
    console.log(`\nRecorded in ${out}`);
  }
} finally {
  await rig.stop();
}
process.exit(0);

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] extends readonly (infer One)[] ? One[] : Type[Key] };

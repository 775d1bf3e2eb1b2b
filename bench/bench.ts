/**
 * Tally beside one document and beside the documented recipe, under the same loads, through the same governor; what its
 * client and its aggregation take by themselves; how fresh totals are; and what a crowd meets that finds everything cold.
 *
 *     npm run bench -- [--only contest,overhead,aggregation,freshness,crowd] [--seconds N] …
 */
import {
  chosenLoads,
  contenders,
  crowd,
  GOVERNED_PARTS,
  isWhole,
  latencies,
  limits,
  out,
  parts,
  runs,
  seconds,
} from "./options.ts";
import { KEPT, print, type Results, record } from "./report.ts";
import { type Rig, startPlain, startRig } from "./rig.ts";
import { runOn } from "./runOn.ts";

const results = {
  ...{ limits, latencies, trials: [], overhead: [], aggregation: [] },
  ...{ freshness: [], crowds: [] },
} as Mutable<Results>;

if (GOVERNED_PARTS.some((part) => parts.includes(part))) {
  await runOn((signal) => startRig(limits, latencies, signal), runGoverned);
}
if (parts.includes("freshness")) {
  await runOn(startPlain, async ({ emulator }) => {
    const { measureFreshness } = await import("./freshness.ts");
    results.freshness.push(...(await step("Freshness", () => measureFreshness(emulator, seconds ?? 60))));
  });
}
if (parts.includes("crowd")) {
  const { measureCrowd } = await import("./crowd.ts");
  for (let run = 0; run < runs; run++) {
    for (const who of ["tally", "floor"] as const) {
      results.crowds.push(await step(`A cold crowd, ${who}`, () => measureCrowd(who, crowd)));
    }
  }
}

print(results);
const file = out ?? (isWhole ? KEPT : undefined);
if (file) {
  record(file, results);
  console.log(`\nRecorded in ${file}`);
}
process.exit(0);

async function runGoverned(rig: Rig): Promise<void> {
  // Only now, because they look for the suite when they are loaded.
  const { runTrial } = await import("./trial.ts");
  const { measureOverhead } = await import("./overhead.ts");
  const { measureAggregation } = await import("./aggregation.ts");
  if (parts.includes("contest")) {
    await step("Warming up", async () => {
      const warmUp = { name: "warm-up", ...{ before: { perSecond: 1, seconds: 1 } }, clients: 20, counters: 1 };
      for (const name of contenders) await runTrial(rig, name, { ...warmUp, measured: { perSecond: 20, seconds: 3 } });
    });
    for (const load of chosenLoads) {
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
}

/** Says what is under way, and how long it took. */
async function step<Result>(what: string, run: () => Promise<Result>): Promise<Result> {
  const start = performance.now();
  process.stderr.write(`${what}… `);
  const result = await run();
  process.stderr.write(`${((performance.now() - start) / 1_000).toFixed(0)} s.\n`);
  return result;
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] extends readonly (infer One)[] ? One[] : Type[Key] };

/**
 * The benchmark. Each part records its results when it is finished.
 *
 *     contest      Tally, one document and the documented recipe under the same loads, through the same governor
 *     overhead     what Tally's client adds to a write
 *     costs        what an increment costs at several rates, counted on the wire
 *     freshness    how long an acknowledged increment takes to be in a watched total
 *     crowd        a crowd on cold emulators, beside a bare write
 *     coldStart    CPU-seconds of a fresh process of the functions, beside a function by hand
 *
 *     npm run bench -- [--only contest overhead] [--help]
 *     npm run bench -- --only contest --slow 8 --approaches tally --loads "1 to 1000/s" --out bench/results/slow.json
 */
import { spawnSync } from "node:child_process";
import type { ApproachName } from "./approaches.ts";
import type { LoadResult } from "./contest.ts";
import { type Load, warmUp } from "./loads.ts";
import { type MeteredEmulators, withEmulators, withMeteredEmulators } from "./meteredEmulators.ts";
import { type BenchPart, conditions, hasDefaults, loads, options } from "./options.ts";
import { step } from "./progress.ts";
import { type Part, type Results, record, resultsFile } from "./results.ts";
import { isSlow, runSlowly } from "./slowMotion.ts";
import { TABLES } from "./tables.ts";

/** What a part measures; modules that need the running emulators are imported when it runs. */
const PARTS = {
  contest: () =>
    withMeteredEmulators(conditions, (emulators) =>
      measureLoads(emulators, options.approaches, [warmUp(1), ...loads.contest]),
    ),
  overhead: () =>
    withEmulators(async (firestore) => {
      const { measureOverhead } = await import("./overhead.ts");
      return await step("Overhead", (progress) => measureOverhead(firestore, progress));
    }),
  costs: () =>
    withMeteredEmulators(
      undefined,
      // On 20 counters none grows: a counter that did would be polled while the next load is measured.
      (emulators) => measureLoads(emulators, ["tally"], [warmUp(20), ...loads.costs]),
    ),
  freshness: () =>
    withEmulators(async (firestore) => {
      const { measureFreshness } = await import("./freshness.ts");
      return await step("Freshness (a minute after a warm-up)", () => measureFreshness(firestore));
    }),
  crowd: crowds,
  coldStart: () =>
    withEmulators(async (firestore) => {
      const { measureColdStart } = await import("./coldStart.ts");
      return await step("Cold start", (progress) => measureColdStart(firestore, progress));
    }),
} satisfies { readonly [Name in BenchPart]: () => Promise<Results[Name][]> };

/** Measures approaches under loads, after a load that only warms up. */
async function measureLoads(
  emulators: MeteredEmulators,
  approaches: readonly ApproachName[],
  [warmUp, ...loads]: readonly [Load, ...Load[]],
): Promise<LoadResult[]> {
  const { measureLoad } = await import("./contest.ts");
  const results: LoadResult[] = [];
  for (const load of [warmUp, ...loads]) {
    for (const name of approaches) {
      const result = await step(`${load.name}, ${name}`, () => measureLoad(emulators, name, load));
      if (load !== warmUp) results.push(result);
    }
  }
  return results;
}

async function crowds(): Promise<Results["crowd"][]> {
  const { CROWDS, measureCrowd, RUNS } = await import("./crowd.ts");
  const results: Results["crowd"][] = [];
  for (const crowd of CROWDS)
    for (let run = 1; run <= RUNS; run++)
      for (const target of ["tally", "floor"] as const) {
        const what = `${JSON.stringify(crowd)}, run ${run} of ${RUNS}, ${target}`;
        results.push(await step(what, () => measureCrowd(target, crowd, conditions)));
      }
  return results;
}

if (options.slow !== undefined && !isSlow()) runSlowly(options.slow);
const part = (process.env.TALLY_BENCH_PART ?? (options.only.length === 1 && options.only[0])) as BenchPart | false;
if (part === false) {
  // Each part has a process of its own, because modules keep the address of the emulators that they found first.
  for (const one of options.only) {
    const env = { ...process.env, TALLY_BENCH_PART: one };
    const { status } = spawnSync(process.execPath, process.argv.slice(1), { stdio: "inherit", env });
    if (status !== 0) process.exit(status ?? 1);
  }
} else {
  const results = await PARTS[part]();
  for (const [title, table] of Object.entries(TABLES[part](results as never))) console.log(`\n${title}\n\n${table}`);
  const file = options.out ?? (hasDefaults ? resultsFile(part) : undefined);
  if (file) record<Part>(file, results, part === "contest" ? conditions : undefined);
  if (file) console.log(`\nRecorded in ${file}`);
}
process.exit(0);

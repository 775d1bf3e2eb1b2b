/**
 * The benchmark. Each part records its results when it is finished.
 *
 *     contest      Tally, one document and the documented recipe under the same loads, through the same governor
 *     overhead     what Tally's client adds to a write
 *     aggregation  what the functions take to measure and publish a counter
 *     costs        what an increment costs at several rates, counted on the wire
 *     freshness    how long an acknowledged increment takes to be in a watched total
 *     crowd        a crowd on cold emulators, beside a bare write
 *
 *     npm run bench -- [--only contest,…] [--help]
 */
import { spawnSync } from "node:child_process";
import { costLoads } from "./loads.ts";
import { type MeteredEmulators, withEmulators, withMeteredEmulators } from "./meteredEmulators.ts";
import { type BenchPart, conditions, hasDefaults, loads, options } from "./options.ts";
import { step } from "./progress.ts";
import { type Part, type Results, record, resultsFile } from "./results.ts";
import { isSlow, runSlowly } from "./slowMotion.ts";
import { TABLES } from "./tables.ts";

/** What a part measures; modules that need the running emulators are imported when it runs. */
const PARTS = {
  contest: () => withMeteredEmulators(conditions, "plain", contest),
  overhead: () =>
    withEmulators("plain", async (firestore) => {
      const { measureOverhead } = await import("./overhead.ts");
      return await step("Overhead", (progress) => measureOverhead(firestore, progress));
    }),
  aggregation: () =>
    withEmulators("plain", async () => {
      const { measureAggregation } = await import("./aggregation.ts");
      return await step("Aggregation", measureAggregation);
    }),
  costs: () => withMeteredEmulators(undefined, "plain", costs),
  freshness: () =>
    withEmulators("plain", async (firestore) => {
      const { measureFreshness } = await import("./freshness.ts");
      const seconds = options.seconds ?? 60;
      return await step(`Freshness (${seconds} s after a warm-up)`, () => measureFreshness(firestore, seconds));
    }),
  crowd: crowds,
} satisfies { readonly [Name in BenchPart]: () => Promise<Results[Name][]> };

async function contest(emulators: MeteredEmulators): Promise<Results["contest"][]> {
  const { measureLoad } = await import("./contest.ts");
  const warmUp = { name: "warm-up", clients: 20, counters: 1, before: { perSecond: 1, seconds: 1 } };
  await step("Warming up", async () => {
    for (const name of options.approaches) {
      await measureLoad(emulators, name, { ...warmUp, measured: { perSecond: 20, seconds: 3 } });
    }
  });
  const results: Results["contest"][] = [];
  for (const load of loads) {
    for (const name of options.approaches) {
      results.push(await step(`${load.name}, ${name}`, () => measureLoad(emulators, name, load)));
    }
  }
  return results;
}

async function costs(emulators: MeteredEmulators): Promise<Results["costs"][]> {
  const { measureLoad } = await import("./contest.ts");
  const warmUp = { name: "warm-up", clients: 20, counters: 20, before: { perSecond: 0, seconds: 0 } };
  // The counters stay at one shard: one that grew would be polled while the next load is measured.
  await step("Warming up", () =>
    measureLoad(emulators, "tally", { ...warmUp, measured: { perSecond: 20, seconds: 3 } }),
  );
  const results: Results["costs"][] = [];
  for (const load of costLoads(options.seconds)) {
    results.push(
      await step(`${load.name} for ${load.measured.seconds} s`, () => measureLoad(emulators, "tally", load)),
    );
  }
  return results;
}

async function crowds(): Promise<Results["crowd"][]> {
  const { measureCrowd } = await import("./crowd.ts");
  const { clients, rate, as, governor, runs, seconds = 8 } = options;
  const governed = governor ? conditions : undefined;
  const crowd = { clients, perSecond: rate, seconds, packaging: as, governed };
  const results: Results["crowd"][] = [];
  for (let run = 1; run <= runs; run++) {
    for (const target of ["tally", "floor"] as const) {
      results.push(await step(`Crowd, run ${run} of ${runs}, ${target}`, () => measureCrowd(target, crowd)));
    }
  }
  return results;
}

/** Each part has a process of its own, because modules keep the address of the emulators that they found first. */
function runEach(parts: readonly BenchPart[]): never {
  for (const part of parts) {
    const { status } = spawnSync(process.execPath, [...process.argv.slice(1), "--only", part], { stdio: "inherit" });
    if (status !== 0) process.exit(status ?? 1);
  }
  process.exit(0);
}

if (options.slow !== undefined && !isSlow()) runSlowly(options.slow);
const [name, ...others] = options.only as [BenchPart];
if (others.length > 0) runEach(options.only);
const results = await PARTS[name]();
for (const [title, table] of Object.entries(TABLES[name](results as never))) console.log(`\n${title}\n\n${table}`);
const file = options.out ?? (hasDefaults ? resultsFile(name) : undefined);
if (file) {
  record<Part>(file, results, name === "contest" ? conditions : undefined, options.append);
  console.log(`\nRecorded in ${file}`);
}
process.exit(0);

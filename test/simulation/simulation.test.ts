/** The simulation: no run violates an invariant, and each planted mistake is found. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { seeds } from "../../core/testing/runs.ts";
import { percentile } from "../../testkit/statistics.ts";
import type * as Entry from "./bundleEntry.ts";
import type { Fault } from "./faults.ts";
import type { Mutation, World } from "./mutations/mutation.ts";
import { mutations } from "./mutations.ts";
import { type Build, buildSimulation, runSeeds } from "./run.ts";
import { type Scenario, SECOND } from "./scenario/scenario.ts";

/** In how many runs of `npm run test:nightly` it holds. `users.test.ts` has the world of users. */
const WORLDS: readonly (readonly [World, nightly: number, claim: string])[] = [
  ["one database", 2_000, "I1 to I13 hold under every kind of fault"],
  ["regions", 2_000, "I14 holds in several regions"],
  ["failing", 500, "a step that fails for long leaves totals exact and fresh"],
  ["worst", 500, "each kind of fault at its worst leaves totals exact, and half of them on time"],
  ["adopted", 500, "a counter that old apps write is exact, and refuses none of them"],
  ["calm", 500, "increments in counter documents count once, in calm counters"],
];
/** How many seeds may find a mutation, from its own on. Changes of the code may move the first that does. */
const SEEDS_PER_MUTATION = 20;
let build: Build;
let entry: typeof Entry;

beforeAll(async () => {
  build = await buildSimulation();
  entry = await import(build.path);
});
afterAll(() => build.remove());

const RUNS = WORLDS.map(([world, nightly, claim]) => ({ world, count: seeds(nightly), claim }));
test.each(RUNS)("$claim, in $count simulated runs", { timeout: 900_000 }, async ({ world, count }) => {
  const { failed, runs, faults, lateness, unrecognizedReplays } = await runSeeds(build, { world, from: 1, count });
  const option = world === "one database" ? "" : `--${world} `;
  expect(failed, failed && `replay: npm run simulate:faults -- ${option}--seed ${failed.seed}`).toBeUndefined();
  expect(runs).toBe(count);
  if (world === "one database") {
    for (const kind of entry.FAULTS) expect(faults[kind], kind).toBeGreaterThan(count / 20);
    // Only replays after two minutes, or after a deletion of the counter, may go unrecognized.
    expect(unrecognizedReplays).toBeLessThan(count / 20);
  }
  if (world === "failing")
    for (const step of entry.FAILING_STEPS) expect(faults[step], step).toBeGreaterThan(count / 25);
  if (world === "worst")
    for (const kind of [...entry.FAULTS, ...entry.FAILING_STEPS]) {
      expect(lateness[kind]?.length, kind).toBeGreaterThan(count / 5);
      expect(percentile(lateness[kind] ?? [], 0.5), kind).toBeLessThan(kind === "slow commits" ? 6_000 : 1_500);
    }
});

test("a copy of a direct write that comes minutes later does not count", { timeout: 120_000 }, async () => {
  const { calmScenarioOf, replayingLate, simulate } = entry;
  for (let seed = 600; seed < 700; seed++) {
    const { violation } = await simulate(calmScenarioOf(seed), { mutation: { ...replayingLate, breaks: [] } });
    expect(violation).toBeUndefined();
  }
});

test("a seed replays exactly", { timeout: 300_000 }, async () => {
  const { scenarioOf, simulate } = entry;
  for (let seed = 1; seed <= 100; seed++) {
    const scenario = scenarioOf(seed);
    const [once, again] = [1, 2].map(() => simulate.bind(undefined, scenario, { keepHistory: true }));
    expect(await once?.()).toEqual(await again?.());
  }
});

const NAMED = Object.entries(mutations);
test.each(NAMED)("the mutation is found: %s", { timeout: 60_000 }, async (mutation, { breaks, world, seed = 1 }) => {
  const { failed } = await entry.run({ world, mutation, from: seed, count: SEEDS_PER_MUTATION });
  expect(breaks, failed?.message ?? "not found").toContain(failed?.message.split(":")[0]);
});

test("I4: with slow commits or failing calls, all instances together measure a busy counter 1.1 times per interval", {
  timeout: 120_000,
}, async () => {
  const { scenarioOf, simulate } = entry;
  const intervals = 300;
  const actions = Array.from({ length: 10 * intervals }, (_, n) => {
    return { at: (n * SECOND) / 10, does: "increment", client: n % 4, counter: "b", by: 1 } as const;
  });
  const measurementsUnder = async (fault: Fault) => {
    let measurements = 0;
    const counting: Mutation = {
      decide: (decide, ...args) => {
        const step = decide(...args);
        // A measurement follows each of these steps.
        if (["measure", "wait", "fold", "prepare"].includes(step.do)) measurements++;
        return step;
      },
      breaks: [],
    };
    const scenario: Scenario = {
      ...{ seed: 1, faults: [fault], faultRate: 0.3, latency: 5_000, instances: 3, snapshotLag: 0, index: "ready" },
      config: { ...scenarioOf(1).config, minInterval: 1_000, maxInterval: 10_000, precision: 0 },
      actions,
    };
    expect((await simulate(scenario, { mutation: counting })).violation).toBeUndefined();
    return measurements;
  };
  const kinds = ["slow commits", "slow calls", "lost calls", "lost answers", "aborted calls"] as const;
  const all: [Fault, perInterval: number][] = [];
  for (const kind of kinds) all.push([kind, (await measurementsUnder(kind)) / intervals]);
  const mean = all.reduce((sum, [, each]) => sum + each, 0) / kinds.length;
  expect(mean, JSON.stringify(all)).toBeLessThan(1.1);
  // Where 30 % of the calls fail, some measurements are made again.
  for (const [kind, each] of all) expect(each, kind).toBeLessThan(1.25);
  for (const [kind, each] of all) expect(each, kind).toBeGreaterThan(0.2);
});

test("a take waits longer than a second for its list of the shards", { timeout: 60_000 }, async () => {
  const { scenarioOf, simulate } = entry;
  // Units come while the functions stand still, and the buyer's connection takes seconds each way.
  const scenario: Scenario = {
    ...{ ...scenarioOf(1), faults: [], instances: 1, index: "ready", snapshotLag: 0, latency: 6 * SECOND },
    actions: [
      { at: 0, does: "openSale", units: 0, shards: 4 },
      { at: 60 * SECOND, does: "freeze", instance: 0, seconds: 600 },
      { at: 61 * SECOND, does: "restock", server: 0, units: 5 },
      { at: 80 * SECOND, does: "take", client: 500, once: "user0", units: 1 },
    ],
  };
  expect((await simulate(scenario)).violation).toBeUndefined();
});

test("a failing run is minimized to a few actions", { timeout: 120_000 }, async () => {
  const name = "fold without the precondition";
  const { minimize, mutations, run, scenarioOf, simulate } = entry;
  const { failed } = await run({ mutation: name, from: 2_001, count: 2_000 });
  const mutation = mutations[name];
  const smallest = await minimize(scenarioOf(failed?.seed ?? 0), mutation);
  expect(smallest.actions.length).toBeLessThanOrEqual(10);
  expect(smallest.faults.length).toBeLessThanOrEqual(3);
  expect(mutation?.breaks).toContain((await simulate(smallest, { mutation })).violation?.invariant);
});

/** The simulation itself: nothing it tries breaks an invariant, and it would notice if something did. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Mutation } from "./bundle.ts";
import type * as Entry from "./entry.ts";
import { mutations } from "./mutations.ts";
import { type Build, buildSimulation, runSeeds } from "./run.ts";

const SEEDS = 10_000;
let build: Build;

beforeAll(async () => {
  build = await buildSimulation();
});
afterAll(() => build.remove());

test(`I1 to I8 hold in ${SEEDS} simulated worlds, under every kind of fault`, { timeout: 300_000 }, async () => {
  const { failed, runs, faults, unrecognized } = await runSeeds(build, { from: 1, count: SEEDS });
  expect(failed, failed && `to see it: npm run simulate:faults -- --seed ${failed.seed}`).toBeUndefined();
  expect(runs).toBe(SEEDS);
  const { FAULTS } = (await import(build.path)) as typeof Entry;
  for (const kind of FAULTS) expect(faults[kind], kind).toBeGreaterThan(100);
  // What 32 marks cannot tell is rare, even where every tenth connection is cut.
  expect(unrecognized).toBeLessThan(50);
});

test("a seed replays exactly", async () => {
  const { scenarioOf, simulate } = (await import(build.path)) as typeof Entry;
  for (let seed = 1; seed <= 100; seed++) {
    const [once, again] = [1, 2].map(() => simulate.bind(undefined, scenarioOf(seed), { keepHistory: true }));
    expect(await once?.()).toEqual(await again?.());
  }
});

test.each(Object.entries(mutations))("it notices: %s", { timeout: 120_000 }, async (_, { breaks, ...mutation }) => {
  const mutant = await buildSimulation(mutation);
  try {
    const { failed } = await runSeeds(mutant, { from: 1, count: SEEDS });
    expect(breaks, failed?.message ?? `no violation in ${SEEDS} runs`).toContain(failed?.message.split(":")[0]);
  } finally {
    mutant.remove();
  }
});

/** What the simulation has found, with seeds that show it if the fix is undone. */
const FOUND: Record<string, { readonly seeds: readonly number[]; readonly undone: Mutation }> = {
  "an instance that froze before its publish overwrote a count that a creation and a deletion had left as it was": {
    seeds: [3941, 6553, 6923],
    undone: mutations["a recount that finds nothing new is not published"] as Mutation,
  },
};

test.each(Object.entries(FOUND))("found and fixed: %s", { timeout: 60_000 }, async (_, { seeds, undone }) => {
  const before = await buildSimulation(undone);
  try {
    for (const seed of seeds) {
      const [failed, passed] = [await import(before.path), await import(build.path)] as [typeof Entry, typeof Entry];
      expect((await failed.simulate(failed.scenarioOf(seed))).violation, `seed ${seed}, undone`).toBeDefined();
      expect((await passed.simulate(passed.scenarioOf(seed))).violation, `seed ${seed}`).toBeUndefined();
    }
  } finally {
    before.remove();
  }
});

test("a failing run is cut down to a few actions", { timeout: 120_000 }, async () => {
  const { breaks, ...mutation } = mutations["fold without the precondition"] as (typeof mutations)[string];
  const mutant = await buildSimulation(mutation);
  try {
    const { failed } = await runSeeds(mutant, { from: 1, count: SEEDS });
    const { minimize, scenarioOf, simulate } = (await import(mutant.path)) as typeof Entry;
    const smallest = await minimize(scenarioOf(failed?.seed ?? 0));
    expect(smallest.actions.length).toBeLessThanOrEqual(8);
    expect(smallest.faults.length).toBeLessThanOrEqual(2);
    expect(breaks).toContain((await simulate(smallest)).violation?.invariant);
  } finally {
    mutant.remove();
  }
});

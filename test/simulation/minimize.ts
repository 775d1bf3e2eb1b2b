/**
 * Minimizes a failing scenario: fewer actions, fewer kinds of faults, one instance. The method is delta debugging (Zeller
 * and Hildebrandt, 2002). Each removal changes the timing of the rest, so a candidate is tried with several seeds.
 */
import type { Mutation } from "./mutations/mutation.ts";
import type { Scenario } from "./scenario/scenario.ts";
import { simulate } from "./simulate.ts";

/** How many seeds each candidate is tried with. */
const SEEDS = 20;

/** @returns the smallest scenario found that violates the same invariant */
export async function minimize(scenario: Scenario, mutation?: Mutation): Promise<Scenario> {
  const violated = async (one: Scenario) => (await simulate(one, { mutation })).violation?.invariant;
  const invariant = await violated(scenario);
  if (!invariant) throw new Error(`seed ${scenario.seed} does not fail`);
  let smallest = scenario;
  const accept = async (candidate: Scenario) => {
    for (let i = 0; i < SEEDS; i++) {
      const variant = { ...candidate, seed: scenario.seed + i };
      if ((await violated(variant)) !== invariant) continue;
      smallest = variant;
      return true;
    }
    return false;
  };
  await accept({ ...smallest, instances: 1 });
  // Fewer actions need fewer faults, and fewer faults fewer actions.
  for (let before: Scenario | undefined; before !== smallest; ) {
    before = smallest;
    for (const fault of smallest.faults)
      await accept({ ...smallest, faults: smallest.faults.filter((one) => one !== fault) });
    await withFewerActions();
  }
  return smallest;

  async function withFewerActions(): Promise<void> {
    for (let size = Math.ceil(smallest.actions.length / 2); ; size = Math.ceil(size / 2)) {
      let isSmaller = false;
      for (let start = 0; start < smallest.actions.length; ) {
        const actions = smallest.actions.toSpliced(start, size);
        if (await accept({ ...smallest, actions })) isSmaller = true;
        else start += size;
      }
      if (size === 1 && !isSmaller) return;
    }
  }
}

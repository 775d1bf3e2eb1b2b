/** Scenarios in which one step of the functions fails as long as there is traffic. In half of them nothing else fails. */
import { randomFor } from "../../../core/testing/random.ts";
import { FAILING_STEPS, type FailingStep } from "../failingSteps.ts";
import { MS, type Scenario } from "./scenario.ts";
import { scenarioOf } from "./scenarioOf.ts";

export function failingScenarioOf(seed: number): Scenario {
  const random = randomFor(seed, "failing");
  const failing = random.pick(Object.keys(FAILING_STEPS) as FailingStep[]);
  const scenario = scenarioOf(seed);
  if (random.chance(0.5)) return { ...scenario, failing };
  const actions = scenario.actions.filter(({ does }) => !["kill", "killServer", "freeze"].includes(does));
  return { ...scenario, failing, actions, faults: [], latency: 9 * MS };
}

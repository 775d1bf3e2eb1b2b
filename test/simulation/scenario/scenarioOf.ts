/** The scenario of a seed: traffic, and parts that some scenarios have besides. */

import { randomFor } from "../../../core/testing/random.ts";
import { crowd, lull } from "./crowds.ts";
import { eventsWithItems, move, sale, visits } from "./features.ts";
import type { Scenario } from "./scenario.ts";
import { trafficOf } from "./traffic.ts";
import { deletions, maintenance, stragglers } from "./upkeep.ts";

export function scenarioOf(seed: number): Scenario {
  let scenario = trafficOf(seed);
  // Each part has its own random numbers, seeded with its name, so that a change of one part leaves the others as they are.
  for (const [name, add] of Object.entries({
    deletions,
    maintenance,
    stragglers,
    lull,
    crowd,
    move,
    visits,
    sale,
    eventsWithItems,
  })) {
    scenario = { ...scenario, ...add(scenario, randomFor(seed, name)) };
  }
  return { ...scenario, actions: scenario.actions.toSorted((a, b) => a.at - b.at) };
}

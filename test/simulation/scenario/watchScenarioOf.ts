/** Scenarios for what watches show: users who like and unlike quickly, and plain increments, on the faults of any scenario. */
import { randomFor } from "../../../core/testing/random.ts";
import { type Action, LIKES, PLAIN, type Scenario, SECOND } from "./scenario.ts";
import { trafficOf } from "./traffic.ts";

export function watchScenarioOf(seed: number): Scenario {
  const random = randomFor(seed, "watches");
  const duration = SECOND * random.pick([1, 3, 10, 30, 120]);
  const actions: Action[] = Array.from({ length: random.integer(2, random.pick([10, 40])) }, () => {
    const at = Math.round(duration * random.next());
    const client = random.integer(0, 2);
    // The first two are devices of the same user, and each user has a second `once`, such as a vote of an organisation.
    const once = `user${Math.max(client, 1)}${random.pick(["", "", "b"])}`;
    const roll = random.next();
    if (roll < 0.35) return { at, does: "like", client, counter: LIKES, once };
    if (roll < 0.65) return { at, does: "unlike", client, counter: LIKES, once };
    if (roll < 0.85) return { at, does: "increment", client, counter: random.pick(PLAIN), by: random.integer(1, 5) };
    if (roll < 0.95) return { at, does: "add", server: 0, counter: random.pick(PLAIN), by: random.integer(1, 5) };
    return { at, does: "sweep" };
  });
  // Where snapshots lag, totals are wrong for a while.
  return { ...trafficOf(seed), snapshotLag: 0, actions: actions.sort((a, b) => a.at - b.at) };
}

/** Scenarios of a counter that was made by hand: old apps and new ones count, while it is adopted, once or several times. */
import { randomFor } from "../../../core/testing/random.ts";
import { type Action, HAND_MADE, MS, type Scenario, SECOND } from "./scenario.ts";
import { trafficOf } from "./traffic.ts";

export function adoptedScenarioOf(seed: number): Scenario {
  const random = randomFor(seed, "adopted");
  const traffic = trafficOf(seed);
  const { maxInterval, shrinkCooldown } = traffic.config;
  const numShards = random.integer(1, 5);
  const old = (at: number): Action => ({ at, does: "oldUpdate", shard: `${random.integer(0, numShards - 1)}` });
  const write = (at: number): Action => {
    if (random.chance(0.6)) return old(at);
    if (random.chance(0.3)) return { at, does: "add", server: random.integer(0, 1), counter: HAND_MADE, by: 1 };
    if (random.chance(0.5)) return { at, does: "increment", client: random.integer(0, 4), counter: HAND_MADE, by: 1 };
    // A client of Tally that is contended, or knows an old shard count.
    return { at, does: "bareWrite", counter: HAND_MADE, shard: `${random.integer(0, numShards + 3)}`, by: 1 };
  };
  const duration = random.pick([3, 10, 30, 120]) * SECOND;
  const some = (most: number) => Array.from({ length: random.integer(1, most) }, () => random.next());
  // The functions may be the first to publish it, for an old write, or the command.
  const adopting = some(3).map((share): Action => ({ at: Math.round(share * duration), does: "adopt" }));
  const during = some(random.pick([3, 30])).map((share) => write(Math.round(share * duration)));
  // After it was folded, or about then.
  const calm = maxInterval + Math.min(60_000, shrinkCooldown) + Math.min(130_000, shrinkCooldown) + shrinkCooldown;
  const later = random.chance(0.6)
    ? some(5).map((share) => write(duration + Math.round((calm + (2 * share - 1) ** 3 * maxInterval) * MS)))
    : [];
  const end = Math.max(duration, ...later.map(({ at }) => at)) + 60 * SECOND;
  const ending: Action[] = random.chance(0.3) ? [{ at: end, does: "endAdoption" }] : [];
  const faults = traffic.actions.filter(({ does }) => ["kill", "freeze", "sweep", "killServer"].includes(does));
  const first: Action = { at: 0, does: "makeByHand", numShards, count: random.integer(0, 50) };
  const actions = [...faults, ...adopting, ...during, ...later, ...ending].toSorted((a, b) => a.at - b.at);
  const config = { ...traffic.config, adopted: true, maxShards: Math.max(traffic.config.maxShards, numShards) };
  return { ...traffic, config, actions: [first, ...actions] };
}

/** Scenarios of calm counters: increments go to their documents, so far apart that generations begin and end, and documents close and open. */
import { randomFor } from "../../../core/testing/random.ts";
import { type Action, LIKES, PLAIN, type Scenario, SECOND } from "./scenario.ts";
import { trafficOf } from "./traffic.ts";

export function calmScenarioOf(seed: number): Scenario {
  const random = randomFor(seed, "calm");
  const traffic = trafficOf(seed);
  const counter = PLAIN[1] as string;
  const gap = random.pick([2, 5, 12, 20, 40]) * SECOND;
  const burst = random.pick([0.1, 0.3, 0.6]);
  let at = 0;
  const calm = Array.from({ length: random.integer(10, 60) }, (): Action => {
    at += Math.round(random.chance(burst) ? random.next() * SECOND : random.next() * 2 * gap);
    const client = random.integer(0, 3);
    const once = `user${Math.max(client, 1)}`;
    const roll = random.next();
    if (roll < 0.55) return { at, does: "increment", client, counter, by: random.integer(1, 5) };
    if (roll < 0.7) return { at, does: "like", client, counter: LIKES, once };
    if (roll < 0.8) return { at, does: "unlike", client, counter: LIKES, once };
    if (roll < 0.85) return { at, does: "add", server: 0, counter, by: random.integer(1, 5) };
    if (roll < 0.88) return { at, does: "reset", counter, to: random.integer(-10, 100) };
    if (roll < 0.92) return { at, does: "strayIncrement" };
    if (roll < 0.95) return { at, does: "reconcile" };
    return { at, does: "sweep" };
  });
  const rare = traffic.actions.filter(({ does }) => ["kill", "freeze", "killServer", "closeClient"].includes(does));
  const { windows, history } = traffic.config;
  const published = { windows: { ...windows, groups: [] }, history: { ...history, groups: [] } };
  const config = { ...traffic.config, direct: true, ...published };
  const actions = [...rare, ...calm].toSorted((a, b) => a.at - b.at);
  return { ...traffic, config, actions };
}

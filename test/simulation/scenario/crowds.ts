/** Many writes at once, and few after them. */

import type { Random } from "../../../core/testing/random.ts";
import type { Micros } from "../model/values.ts";
import { type Action, MS, PLAIN, type Scenario, SECOND } from "./scenario.ts";

/** The number of the first client of a crowd. Each has its own connection. */
const CROWD = 1_000;

/** A counter is busy, gets no writes for a moment, and then a late one. */
export function lull({ actions, config }: Scenario, random: Random): Partial<Scenario> {
  if (!random.chance(0.15)) return {};
  const counter = random.pick(PLAIN);
  const start = Math.round(random.next() * (actions.at(-1)?.at ?? 0));
  const write = (after: Micros): Action => {
    return { at: start + Math.round(after), does: "increment", client: random.integer(0, 3), counter, by: 1 };
  };
  const busy = Array.from({ length: random.integer(10, 30) }, () => write(random.next() * 3 * SECOND));
  const late = Array.from({ length: random.integer(1, 2) }, () => {
    return write(3 * SECOND + random.between(0.5, 4) * config.minInterval * MS);
  });
  const isNarrow = random.chance(0.7);
  return {
    actions: [...actions, ...busy, ...late],
    config: isNarrow ? { ...config, minShards: 1, maxShards: 1 } : config,
  };
}

/** Hundreds of clients write one counter within a minute, over connections that break. */
export function crowd({ actions, config, faults, faultRate }: Scenario, random: Random): Partial<Scenario> {
  if (!random.chance(1 / 20)) return {};
  const counter = random.pick(PLAIN);
  const start = Math.round(random.next() * (actions.at(-1)?.at ?? 0));
  const duration = random.pick([1, 5, 10, 60]) * SECOND;
  const increments = Array.from({ length: random.integer(50, 300) }, (_, i): Action => {
    const at = start + Math.round(random.next() * duration);
    return { at, does: "increment", client: CROWD + i, counter, by: 1 };
  });
  // Mostly a single shard, so that streams are sent again while other clients write it.
  const isNarrow = random.chance(0.7);
  return {
    actions: [...actions, ...increments],
    config: isNarrow ? { ...config, minShards: 1, maxShards: 1 } : config,
    faults: faults.includes("cut connections") ? faults : [...faults, "cut connections"],
    faultRate: Math.max(faultRate, 0.1),
  };
}

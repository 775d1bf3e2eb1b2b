/** Runs one scenario. The same scenario, settings and seed give the same outcome. */

import { randomFor } from "../../core/testing/random.ts";
import type { Millis } from "../../functions/src/decisions.ts";
import { Backend } from "./backend.ts";
import { addTo, type Bill, emptyBill } from "./bill.ts";
import { Clock, TICK } from "./clock.ts";
import { Counter } from "./counter.ts";
import { Metrics } from "./metrics.ts";
import { poisson } from "./poisson.ts";
import { Population } from "./population.ts";
import type { Scenario } from "./scenarios.ts";
import type { Settings } from "./settings.ts";
import type { World } from "./world.ts";
import { Write } from "./write.ts";

export interface Outcome {
  readonly scenario: Scenario;
  readonly settings: Settings;
  readonly metrics: Metrics;
  /** From the end of the warm-up to the end of the run. */
  readonly bill: Bill;
  readonly counters: readonly Counter[];
  readonly offered: number;
  readonly acknowledged: number;
  /** For each step of the scenario, as `Metrics.recovery`. */
  readonly recoveries: readonly (Millis | undefined)[];
}

export function simulate(scenario: Scenario, chosen: Settings, seed: number): Outcome {
  const settings = { ...chosen, ...scenario.settings };
  const stream = (name: string) => {
    const random = randomFor(seed, name);
    return () => random.next();
  };
  const clock = new Clock();
  const metrics = new Metrics(scenario, 0);
  const world: World = {
    clock,
    settings,
    metrics,
    random: stream("shards"),
    randomLook: stream("looks"),
    waiting: new Set(),
  };
  const backend = new Backend(world);
  const arrivals = stream("arrivals");
  const popularity = stream("popularity");
  const clients = stream("clients");

  const newPopulation = () => new Population(scenario.audience, world, clients);
  // Clients that make one increment keep no state, so all counters share a population.
  const shared = scenario.audience.perClient === 1 ? newPopulation() : undefined;
  const counters = new Map<number, { counter: Counter; population: Population }>();
  const find = (name: number) => {
    let found = counters.get(name);
    if (!found) {
      found = { counter: new Counter(), population: shared ?? newPopulation() };
      counters.set(name, found);
    }
    return found;
  };
  const billed = () => [...counters.values()].reduce((bill, { counter }) => addTo(bill, counter.bill), emptyBill());

  let before = emptyBill();
  let offered = 0;
  const end = scenario.lasts + scenario.settles;
  while (clock.now < end) {
    const now = clock.advance();
    if (now === scenario.warmUp) {
      before = billed();
      world.metrics = new Metrics(scenario, now);
      offered = 0;
    }
    const rate = now < scenario.lasts ? scenario.rate(now) : 0;
    const count = poisson((rate * TICK) / 1_000, arrivals);
    for (let i = 0; i < count; i++) {
      const { counter, population } = find(scenario.counterOf(popularity));
      new Write(world, backend, counter, population, now);
    }
    if (count > 0) {
      offered += count;
      world.metrics.window(now).offered += count;
    }
    if (now % 1_000 === 0 && scenario.share > 0) {
      const { published, documents = 0 } = counters.get(0)?.counter ?? {};
      const shardCount = published?.shardCount ?? settings.minShards;
      world.metrics.provision(now, shardCount, documents, (rate * scenario.share) / settings.writesPerShard);
    }
  }
  // A pending increment takes at least as long as it has waited.
  const { metrics: measured, waiting } = world;
  for (const write of waiting) measured.acknowledged(write.issuedAt, clock.now - write.issuedAt);

  return {
    ...{ scenario, settings, metrics: measured, offered },
    bill: addTo(billed(), before, -1),
    counters: [...counters.values()].map(({ counter }) => counter),
    acknowledged: offered - measured.abandonments - waiting.size,
    recoveries: scenario.steps.map(({ at, until }) => measured.recovery(at, until)),
  };
}

/**
 * Runs one trace. Deterministic: the same trace, settings and seed give the same outcome.
 */
import type { Millis } from "../../functions/src/decisions.ts";
import { randomFor } from "../../testkit/random.ts";
import { Backend } from "./backend.ts";
import { addTo, type Bill, emptyBill } from "./bill.ts";
import { Clock, TICK } from "./clock.ts";
import { Counter } from "./counter.ts";
import { poisson } from "./draw.ts";
import { Gauges } from "./gauges.ts";
import { Population } from "./population.ts";
import type { Settings } from "./settings.ts";
import type { Trace } from "./traces.ts";
import { Write } from "./write.ts";

export interface Outcome {
  readonly trace: Trace;
  readonly settings: Settings;
  readonly gauges: Gauges;
  /** From the end of the warm-up to the end of the silence. */
  readonly bill: Bill;
  readonly counters: readonly Counter[];
  readonly offered: number;
  readonly acknowledged: number;
  /** For each step of the trace: how long until 95 of 100 increments are acknowledged within a second, to stay so. */
  readonly absorbed: readonly (Millis | undefined)[];
}

export function simulate(trace: Trace, chosen: Settings, seed: number): Outcome {
  const settings = { ...chosen, ...trace.settings };
  const stream = (name: string) => {
    const random = randomFor(seed, name);
    return () => random.next();
  };
  const clock = new Clock();
  let gauges = new Gauges(trace.window, 0, trace.lasts);
  const backend = new Backend(clock, settings, () => gauges);
  const waiting = new Set<Write>();
  const world = { clock, settings, backend, gauges: () => gauges, random: stream("shards"), waiting };
  const arrivals = stream("arrivals");
  const popularity = stream("popularity");
  const clients = stream("clients");

  const newPopulation = () => new Population(trace.audience, clock, settings, clients);
  // Who comes once needs no place.
  const passersBy = trace.audience.perClient === 1 ? newPopulation() : undefined;
  const counters = new Map<number, { counter: Counter; population: Population }>();
  const find = (name: number) => {
    let found = counters.get(name);
    if (!found) {
      found = { counter: new Counter(name), population: passersBy ?? newPopulation() };
      counters.set(name, found);
    }
    return found;
  };
  const billed = () => [...counters.values()].reduce((bill, { counter }) => addTo(bill, counter.bill), emptyBill());

  let before = emptyBill();
  let offered = 0;
  const end = trace.lasts + trace.settles;
  while (clock.now < end) {
    const now = clock.advance();
    if (now === trace.warmUp) {
      before = billed();
      gauges = new Gauges(trace.window, now, trace.lasts);
      offered = 0;
    }
    const rate = now < trace.lasts ? trace.rate(now) : 0;
    const count = poisson((rate * TICK) / 1_000, arrivals);
    for (let i = 0; i < count; i++) {
      const { counter, population } = find(trace.counterOf(popularity));
      new Write(world, counter, population, now);
    }
    if (count > 0) {
      offered += count;
      gauges.window(now).offered += count;
    }
    if (now % 1_000 === 0 && trace.share > 0) {
      const shardCount = counters.get(0)?.counter.published?.shardCount ?? settings.minShards;
      gauges.provision(now, shardCount, (rate * trace.share) / settings.writesPerShard);
    }
  }
  // Those that still wait have waited at least so long.
  for (const write of waiting) gauges.acknowledged(write.issuedAt, clock.now - write.issuedAt);

  const bill = addTo(billed(), before, -1);
  return {
    trace,
    settings,
    gauges,
    bill,
    counters: [...counters.values()].map(({ counter }) => counter),
    offered,
    acknowledged: offered - gauges.lost - waiting.size,
    absorbed: trace.steps.map(({ at, until }) => gauges.absorbed(at, until)),
  };
}

import { describe, expect, test } from "vitest";
import { withSettings } from "./settings.ts";
import { simulate } from "./simulate.ts";
import { summarize, timeline } from "./summary.ts";
import { AUDIENCES, flashCrowd, fresh, onceEach, sawtooth, steady, type Trace } from "./traces.ts";
import { STAGES, type Stage } from "./tuning.ts";

const [before, between, now] = STAGES as [Stage, Stage, Stage];
/** Functions that take longer than the next events take to come. */
const busy = ["eventLatency=10", "backendLatency=300"];
const run = (trace: Trace, { design, settings }: Stage = now, changed: readonly string[] = [], seed = 1) =>
  simulate(trace, design, withSettings([...settings, ...changed]), seed);
// Few who know of many shards long after those were folded.
const crowd = flashCrowd(30, 900_000);
const trickle: Trace = { ...crowd, name: "trickle after a crowd", rate: (now) => (now < 30_000 ? 30 : 0.05) };

test("a seed makes the same run, another seed another", () => {
  const figures = (seed: number) => {
    const outcome = run(flashCrowd(100, 30_000), now, [], seed);
    return JSON.stringify([summarize(outcome), timeline(outcome)]);
  };
  expect(figures(1)).toBe(figures(1));
  expect(figures(1)).not.toBe(figures(2));
});

describe.each(STAGES.map((stage) => [stage.name, stage] as const))("%s", (_, stage) => {
  // Over before a sweep could repair anything.
  const many = { ...onceEach(), name: "many counters that stop", lasts: 10_000, settles: 60_000, rate: () => 300 };
  const stopping: Trace = { ...many, counterOf: (random) => Math.floor(random() * 300) };
  const traces = [flashCrowd(300, 30_000), sawtooth(20_000, 90_000, 3, 30), onceEach(2_000), stopping, trickle];

  test.each(traces.map((trace) => [trace.name, trace] as const))(
    "%s: all that was committed is published, not too often, and sums up",
    (_, trace) => {
      for (const changed of [[], busy]) {
        const { counters, gauges, settings } = run(trace, stage, changed);
        expect(gauges.closest).toBeGreaterThanOrEqual(settings.minInterval);
        for (const { shards, base, bill, document, uncounted } of counters) {
          const held = [base, ...shards].reduce((sum, { writes = 0 }) => sum + writes, 0);
          expect([held, document?.total, uncounted.length]).toEqual([bill.increments, bill.increments, 0]);
        }
      }
    },
  );

  test("idle is free: once a crowd is gone and its shards are folded, nothing is billed", () => {
    const crowd = flashCrowd(200, 30_000);
    const [hour, day] = [3_600_000, 4 * 3_600_000].map((settles) => run({ ...crowd, settles }, stage).bill);
    expect({ ...day, sweeps: 0 }).toEqual({ ...hour, sweeps: 0 });
    expect(day?.sweeps).toBe(hour?.sweeps);
  });

  test("a total is never older than the longest interval and what it takes to publish, but for stragglers", () => {
    for (const trace of traces.filter((one) => one !== trickle))
      expect(run(trace, stage).gauges.staleness.max).toBeLessThan(11_000);
  });
});

test("what a straggler writes to a silent shard shows when that is polled, more and more rarely, and folded at the latest", () => {
  expect(run(trickle, before).gauges.staleness.max).toBeLessThan(11_000);
  expect(run(trickle, between).gauges.staleness.max).toBeGreaterThan(11_000);
  // Who comes back asks first, so that stragglers are rare.
  expect(run(trickle, now, ["asksFirst=0"]).gauges.staleness.max).toBeGreaterThan(11_000);
  expect(run(trickle, now).gauges.staleness.max).toBeLessThan(withSettings([]).shrinkCooldown);
});

test("a counter that is incremented once costs its write, and a read and a publish on each side", () => {
  const [one, ...others] = STAGES.map((stage) => summarize(run(onceEach(1_000), stage)).dollars);
  // 2 writes, 3 reads, an invocation; and the sweeps meanwhile.
  expect(one).toBeCloseTo(2 * 1.8 + 3 * 0.6 + 0.4, 2);
  // Whoever sees a counter created need not read it.
  for (const other of others) expect(other).toBeCloseTo(2 * 1.8 + 2 * 0.6 + 0.4, 2);
});

test("where shard 0 wakes alone, an increment of a busy counter costs no invocation", () => {
  const trace = steady(50, { clients: 10, perClient: Number.POSITIVE_INFINITY }, 5_000);
  expect(summarize(run(trace, before)).cost.invocations).toBeGreaterThan(0.4);
  expect(summarize(run(trace, now)).cost.invocations).toBeLessThan(0.03);
});

describe("at 1,000 per second, all at once", () => {
  const absorbed = (stage: Stage, ...changed: string[]) =>
    run(flashCrowd(1_000, 30_000), stage, changed).absorbed[0] ?? Number.POSITIVE_INFINITY;

  test("they are absorbed within five seconds", () => {
    expect(absorbed(now)).toBeLessThanOrEqual(5_000);
  });

  test("before they were not, not even if every client watched", () => {
    expect([absorbed(between), absorbed(between, "watching=1")]).toEqual([Infinity, Infinity]);
  });
});

test.each(AUDIENCES)(
  "of a new counter at 100 per second 95 of 100 increments show within 3.5 seconds, from %o",
  (from) => {
    expect(run(fresh(100, from)).gauges.staleness.quantile(0.95)).toBeLessThan(3_500);
  },
);

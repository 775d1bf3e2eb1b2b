import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { randomShard } from "../../core/src/index.ts";
import { randomFor } from "../../core/testing/random.ts";
import { idle } from "../../functions/testing/arbitraries.ts";
import { DeletedEntries } from "../../testkit/production/aggregations.ts";
import { zipf } from "../../testkit/zipf.ts";
import { Backend } from "./backend.ts";
import { Clock } from "./clock.ts";
import { Counter } from "./counter.ts";
import { Histogram } from "./histogram.ts";
import { Metrics } from "./metrics.ts";
import { poisson } from "./poisson.ts";
import { Population } from "./population.ts";
import { FEW_CLIENTS, newCounter } from "./scenarios.ts";
import { withSettings } from "./settings.ts";
import { simulate } from "./simulate.ts";
import type { World } from "./world.ts";
import { Write } from "./write.ts";

const world = (changed: readonly string[] = []): World => {
  const random = randomFor(1, "shards");
  const metrics = new Metrics({ window: 1_000, lasts: 60_000 }, 0);
  const settings = withSettings(changed);
  return {
    clock: new Clock(),
    settings,
    metrics,
    random: () => random.next(),
    randomLook: () => 0,
    waiting: new Set(),
  };
};

test("the clock runs what is due in the order of ticks, nothing twice and nothing early", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(500)), (times) => {
      const clock = new Clock();
      const ran: { due: number; now: number }[] = [];
      for (const due of times) clock.at(due, { run: (now) => ran.push({ due, now }) });
      while (clock.now < 600) clock.advance();
      expect(ran.map(({ due }) => due).sort()).toEqual([...times].sort());
      expect(ran.every(({ due, now }) => now >= due && now < due + 20)).toBe(true);
      expect(ran.map(({ now }) => now)).toEqual(ran.map(({ now }) => now).sort((a, b) => a - b));
    }),
  );
});

test("a quantile is right to 5 %", () => {
  const histogram = new Histogram();
  for (let duration = 1; duration <= 10_000; duration++) histogram.add(duration);
  for (const share of [0.5, 0.95, 0.99]) {
    expect(histogram.quantile(share)).toBeGreaterThanOrEqual(share * 10_000);
    expect(histogram.quantile(share)).toBeLessThanOrEqual(share * 10_500);
  }
  expect([histogram.quantile(1), new Histogram().quantile(0.5)]).toEqual([10_000, Number.NaN]);
});

test.each([0, 0.1, 5, 300])("%d expected events come on average", (expected) => {
  const random = randomFor(1, "events");
  const draws = Array.from({ length: 5_000 }, () => poisson(expected, () => random.next()));
  const mean = draws.reduce((sum, one) => sum + one, 0) / draws.length;
  expect(Math.abs(mean - expected)).toBeLessThanOrEqual(5 * Math.sqrt(expected / draws.length));
});

test("by Zipf's law the second is half as popular as the first, the tenth a tenth", () => {
  const rank = zipf(1_000, randomFor(1, "popularity"));
  const times = new Array(1_001).fill(0);
  for (let i = 0; i < 200_000; i++) times[rank()]++;
  expect(times[2] / times[1]).toBeCloseTo(0.5, 1);
  expect(times[10] / times[1]).toBeCloseTo(0.1, 1);
});

test("aggregations are slower by the index entries that moved within the last hour", () => {
  const stale = (...settings: string[]) =>
    simulate(newCounter(100, FEW_CLIENTS), withSettings(settings), 1).metrics.staleness.quantile(0.5);
  // After half of the 18,000 increments a query takes 0.9 s.
  expect(stale("aggregationSlowdown=100") - stale()).toBeGreaterThan(500);
  const entries = new DeletedEntries();
  entries.add(500, 0);
  entries.add(500, 600_000);
  expect([0, 4_000_000, 8_000_000].map((now) => entries.slowdown(7, now))).toEqual([7, 3.5, 0]);
});

test.each([0, 1])(
  "a refused write is sent to another shard, or by the SDK's queue to the same one: watching=%d",
  (watching) => {
    const shared = world([`watching=${watching}`, "burst=1", "longestWait=0", "abandonAfter=30000"]);
    const { clock } = shared;
    const [backend, counter] = [new Backend(shared), new Counter()];
    counter.published = { ...idle, growing: false };
    const population = new Population({ clients: 2, perClient: 1 }, shared, () => 0.5);
    for (let write = 0; write < 3; write++) new Write(shared, backend, counter, population, clock.now);
    while (clock.now < 30_000) clock.advance();
    expect(counter.list().some(({ id }) => id !== "0")).toBe(watching === 0);
  },
);

describe("unused shards", () => {
  /** A counter that is written at times in seconds, to shards that its shard count names or to others, for some minutes. */
  function run(minutes: number, writes: readonly { readonly at: number; readonly shard?: number | undefined }[]) {
    const shared = world();
    const { clock } = shared;
    const [backend, counter] = [new Backend(shared), new Counter()];
    const fold = vi.spyOn(counter, "fold");
    for (const { at, shard } of writes)
      clock.at(at * 1_000, {
        run: (now) => {
          const id = shard ?? Number(randomShard(counter.published?.shardCount ?? 1, shared.random));
          const isNew = counter.commit(id, now + 1);
          backend.committed(counter, `${id}`, isNew, now + 1);
        },
      });
    while (clock.now < minutes * 60_000) clock.advance();
    return { counter, left: counter.list().map(({ id }) => id), folds: fold.mock.calls.length };
  }
  const every = (seconds: number, minutes: number, shard?: number) =>
    Array.from({ length: (minutes * 60) / seconds }, (_, n) => ({ at: 1 + n * seconds, shard }));

  test.each([
    [1, "never", []],
    [1, "every six seconds, which puts each poll off", every(6, 45)],
    [1, "every 100 seconds", every(100, 45)],
    [1, "20 times a second", every(0.05, 45)],
    // Between two writes there are no more polls than without unused shards.
    [7, "every seven minutes", every(420, 50)],
  ])(
    "are folded within the cool-down and %d min of the last write to one, in a counter written %s",
    (late, _, writes) => {
      // Far beyond 40 shards. The last write comes after the first would have been folded.
      const strays = [0, 3, 9, 12].map((minute, n) => ({ at: 1_201.7 + 60 * minute, shard: [800, 200, 201, 200][n] }));
      const { counter, left } = run(20 + 12 + 10 + late, [...writes, ...strays]);
      expect(left.filter((id) => Number(id) >= 200)).toEqual([]);
      if (counter.documents <= 2) expect(counter.published?.phase).toBe("idle");
    },
  );

  test("that a client keeps writing cost two folds in a cool-down at most", () => {
    const { left, folds } = run(62, [...every(100, 62), ...every(180, 62, 8), ...every(7, 62, 20)]);
    expect(left).toContain("20");
    expect(folds).toBeGreaterThanOrEqual(5);
    expect(folds).toBeLessThanOrEqual(12);
  });
});

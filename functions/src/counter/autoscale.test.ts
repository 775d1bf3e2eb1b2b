import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../core/testing/runs.ts";
import { anyConfig } from "../../testing/arbitraries.ts";
import { DEFAULT_CONFIG as defaults } from "../deploy/defaultConfig.ts";
import { decideScaling, type Scaling } from "./autoscale.ts";
import { averageRate, type Demand } from "./demand.ts";

const now = 1_700_000_000_000;
/** So many writes per second, for so long that chance plays no part. */
const steady = (rate: number): Demand => ({ rate, writes: rate * 1e15, duration: 1e18, contentionShards: 0 });
const rates = fc.oneof(fc.double({ min: 0, max: 50, noNaN: true }), fc.double({ min: 0, max: 1e7, noNaN: true }));
const demands: fc.Arbitrary<Demand> = fc.record({
  rate: rates,
  writes: fc.oneof(fc.nat(30), fc.nat(1e9)),
  duration: fc.double({ min: 1, max: 1e9, noNaN: true }),
  contentionShards: fc.oneof(fc.constant(0), fc.nat(300)),
});
const scalings: fc.Arbitrary<Scaling> = fc.record({
  shardCount: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.double({ min: -1e6, max: 1e6, noNaN: true })),
  calmSince: fc.option(fc.integer({ min: now - 100_000_000, max: now })),
});

describe("100 shards of 2 writes per second each", () => {
  const config = { ...defaults, writesPerShard: 2 };
  // 1,000 times as many writes in the same seconds: an average of 5 seconds varies less by chance.
  const decide = (share: number, calmSince: number | null, at = now) =>
    decideScaling(steady(share * 200), { shardCount: 100, calmSince }, at, 1, config);

  test.each<[share: number, shardCount: number, calmSince: number | null]>([
    [0, 100, now],
    [0.349, 100, now],
    [0.35, 100, null],
    [0.7, 100, null],
    [0.702, 105, null],
    [1, 150, null],
    [1.26, 189, null],
    [3, 450, null],
    [10, 1_500, null],
    [1_000, 1_600, null],
  ])("at %d of their capacity become %i, calm since %j", (share, shardCount, calmSince) => {
    expect(decide(share, null)).toEqual({ shardCount, calmSince });
  });

  test("shrink to one and a half times what is needed once they have been calm for the cool-down, and not before", () => {
    const calmSince = now - config.shrinkCooldown;
    expect(decide(0.2, calmSince, now - 1)).toEqual({ shardCount: 100, calmSince });
    expect(decide(0.2, calmSince)).toEqual({ shardCount: 30, calmSince: null });
    expect(decide(0.202, calmSince)).toEqual({ shardCount: 30, calmSince: null });
    expect(decide(0, calmSince)).toEqual({ shardCount: 1, calmSince: null });
  });

  test("restart the cool-down after one measurement that was not calm", () => {
    expect(decide(0.35, now - config.shrinkCooldown)).toEqual({ shardCount: 100, calmSince: null });
  });
});

test("a counter at its minimum is not waiting to shrink", () => {
  for (const calmSince of [null, now - 1, 0]) {
    expect(decideScaling(steady(0), { shardCount: 10, calmSince }, now, 10, defaults)).toEqual({
      shardCount: 10,
      calmSince: null,
    });
  }
});

test("a counter that goes from 0 to 100 writes per second has 150 shards after a second", () => {
  const demand = { rate: averageRate(0, 100, 1_000), writes: 100, duration: 1_000, contentionShards: 0 };
  expect(decideScaling(demand, { shardCount: 1, calmSince: null }, now, 1, defaults).shardCount).toBe(150);
});

test("a counter of one shard, written a few times within a second, grows if that is hardly chance", () => {
  const shardsFor = (writes: number) =>
    decideScaling(
      { rate: averageRate(0, writes, 1_000), writes, duration: 1_000, contentionShards: 0 },
      { shardCount: 1, calmSince: null },
      now,
      1,
      defaults,
    ).shardCount;
  // n − 2.5 √n > 0.7
  expect([1, 2, 5, 7, 8, 20].map(shardsFor)).toEqual([1, 1, 1, 1, 12, 30]);
});

describe("contention grows a counter", () => {
  const shardsFor = (beyond: number, rate = 9) =>
    decideScaling(
      { rate, writes: rate, duration: 1_000, contentionShards: beyond },
      { shardCount: 10, calmSince: null },
      now,
      1,
      defaults,
    ).shardCount;

  test("to one and a half times the average, which chance does not explain, however many shards appeared", () => {
    expect([2, 10, 70].map((beyond) => shardsFor(beyond))).toEqual([14, 14, 14]);
    expect(shardsFor(70, 7)).toBe(10);
  });

  test("but one shard beyond the count may come from a client with an old count", () => {
    expect([0, 1].map((beyond) => shardsFor(beyond))).toEqual([10, 10]);
  });
});

test("the shard count is a whole number within its bounds, even if a wrong one was stored", () => {
  fc.assert(
    fc.property(demands, scalings, anyConfig, fc.nat(10_000), (demand, scaling, config, reserved) => {
      const least = Math.min(Math.max(config.minShards, reserved), config.maxShards);
      const { shardCount } = decideScaling(demand, scaling, now, least, config);
      return Number.isInteger(shardCount) && shardCount >= least && shardCount <= config.maxShards;
    }),
  );
});

test("after a measurement without chance the shards are at most 0.7 full, or as many as it may lead to", () => {
  fc.assert(
    fc.property(rates, scalings, anyConfig, (rate, scaling, config) => {
      const { shardCount } = decideScaling(steady(rate), scaling, now, config.minShards, config);
      // Growth provides 1.5 times the need, rounded: 1 shard for a need of 0.9, 2 for 1.65.
      const served = Math.max(0.7 * shardCount, (shardCount + 0.5) / 1.5) * config.writesPerShard;
      const before = Math.min(Math.max(Math.round(scaling.shardCount), config.minShards), config.maxShards);
      const isMost = shardCount === Math.min(Math.max(16 * before, 150), config.maxShards);
      return isMost || rate <= served * (1 + 1e-3);
    }),
    { examples: [[0.008008, { shardCount: 1, calmSince: null }, { ...defaults, writesPerShard: 0.01 }]] },
  );
});

test("a crowd that goes on gets what it needs with the third measurement; 2,000 writes at once get 150 shards", () => {
  const countsOf = (...seconds: number[]) => {
    let scaling: Scaling = { shardCount: 1, calmSince: null };
    let rate = 0;
    return seconds.map((writes) => {
      rate = averageRate(rate, writes, 1_000);
      scaling = decideScaling({ rate, writes, duration: 1_000, contentionShards: writes }, scaling, now, 1, defaults);
      return scaling.shardCount;
    });
  };
  expect(countsOf(10, 150, 2_000, 2_000)).toEqual([15, 225, 3_000, 3_000]);
  // The average is still 300 a second, but the burst is over.
  expect(countsOf(2_000, 0, 0, 0)).toEqual([150, 150, 150, 150]);
  expect(countsOf(2_000, 1, 20, 100)).toEqual([150, 150, 150, 150]);
});

test("growth is at least a twentieth, or up to the maximum, and at most 16-fold, or to 150 shards", () => {
  fc.assert(
    fc.property(demands, fc.integer({ min: 1, max: 10_000 }), (demand, before) => {
      const { shardCount } = decideScaling(demand, { shardCount: before, calmSince: null }, now, 1, defaults);
      const isEnough = shardCount <= before || shardCount >= Math.min(Math.floor(before * 1.05), defaults.maxShards);
      return isEnough && shardCount <= Math.max(16 * before, 150);
    }),
  );
});

test("a counter shrinks only after the cool-down", () => {
  fc.assert(
    fc.property(demands, scalings, anyConfig, (demand, scaling, config) => {
      const { shardCount } = decideScaling(demand, scaling, now, config.minShards, config);
      const isCool = scaling.calmSince !== null && now - scaling.calmSince >= config.shrinkCooldown;
      return shardCount >= Math.min(Math.round(scaling.shardCount), config.maxShards) || isCool;
    }),
  );
});

/** An hour of independent writes, measured every second. @returns the shard counts it had */
function hourOf(perSecond: number, seed: number): number[] {
  const random = uniform(seed);
  let scaling: Scaling = { shardCount: 1, calmSince: null };
  let rate = 0;
  return Array.from({ length: 3_600 }, (_, second) => {
    const writes = poisson(perSecond, random);
    rate = averageRate(rate, writes, 1_000);
    scaling = decideScaling(
      { rate, writes, duration: 1_000, contentionShards: 0 },
      scaling,
      now + second * 1_000,
      1,
      defaults,
    );
    return scaling.shardCount;
  });
}

describe("an hour of independent writers at a steady rate", () => {
  const seeds = Array.from({ length: runs(40).numRuns }, (_, n) => 1 + n * 104_729);

  test.each<[perSecond: number, mostly: number, atMost: number]>([
    [1, 3, 4],
    [10, 20, 40],
    [100, 180, 225],
  ])("of %i a second needs at most %i shards in most hours, and never more than %i", (perSecond, mostly, atMost) => {
    const most = seeds.map((seed) => Math.max(...hourOf(perSecond, seed))).sort((a, b) => a - b);
    expect(most[seeds.length / 2]).toBeLessThanOrEqual(mostly);
    expect(most.at(-1)).toBeLessThanOrEqual(atMost);
  });

  test.each([10, 100])(
    "of %i a second has, from ten seconds on, shards for it that are hardly ever full, and changes seldom",
    (perSecond) => {
      for (const seed of seeds) {
        const counts = hourOf(perSecond, seed);
        expect(Math.min(...counts.slice(10)), `seed ${seed}`).toBeGreaterThanOrEqual(0.8 * perSecond);
        expect(
          counts.filter((count, n) => n > 0 && count !== counts[n - 1]).length,
          `seed ${seed}`,
        ).toBeLessThanOrEqual(6);
      }
    },
  );
});

/** How many of independent events happen in a second, by the waiting times between them. */
function poisson(perSecond: number, random: () => number): number {
  let events = -1;
  for (let time = 0; time < perSecond; events++) time -= Math.log(1 - random());
  return events;
}

/** MINSTD (Park and Miller 1988): seeded, so that a failure can be replayed. */
function uniform(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decideScaling, type Scaling } from "./autoscale.ts";
import { anyConfig, defaults } from "./config.fixture.ts";
import type { Demand } from "./demand.ts";

const now = 1_700_000_000_000;
/** So many writes per second, for so long that chance plays no part. */
const steady = (rate: number, quietFor = 0): Demand => ({
  writes: rate * 1e9,
  within: 1e12,
  quietFor,
  isContended: false,
});
const rates = fc.oneof(fc.double({ min: 0, max: 50, noNaN: true }), fc.double({ min: 0, max: 1e7, noNaN: true }));
const demands: fc.Arbitrary<Demand> = fc.record({
  writes: fc.oneof(fc.nat(30), fc.nat(1e9)),
  within: fc.double({ min: 1, max: 1e9, noNaN: true }),
  quietFor: fc.constantFrom(0, 59_999, 60_000, 1e9),
  isContended: fc.boolean(),
});
const scalings: fc.Arbitrary<Scaling> = fc.record({
  shardCount: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.double({ min: -1e6, max: 1e6, noNaN: true })),
  calmSince: fc.option(fc.integer({ min: now - 100_000_000, max: now })),
  growing: fc.boolean(),
});

describe("100 shards of 2 writes per second each", () => {
  const config = { ...defaults, writesPerShard: 2 };
  const decide = (share: number, calmSince: number | null, at = now) =>
    decideScaling(steady(share * 200), { shardCount: 100, calmSince, growing: false }, at, config);

  test.each<[share: number, shardCount: number, calmSince: number | null]>([
    [0, 100, now],
    [0.349, 100, now],
    [0.35, 100, null],
    [0.8, 100, null],
    [0.801, 150, null],
    [1, 150, null],
    [1.25, 188, null],
    [3, 450, null],
    [1_000, 10_000, null],
  ])("at %d of their capacity become %i, calm since %j", (share, shardCount, calmSince) => {
    expect(decide(share, null)).toEqual({ shardCount, calmSince, growing: shardCount > 100 });
  });

  test("shrink to one and a half times what is needed once they have been calm for the cool-down, and not before", () => {
    const calmSince = now - config.shrinkCooldown;
    expect(decide(0.2, calmSince, now - 1)).toMatchObject({ shardCount: 100, calmSince });
    expect(decide(0.2, calmSince)).toMatchObject({ shardCount: 30, calmSince: null });
    expect(decide(0.202, calmSince)).toMatchObject({ shardCount: 31, calmSince: null });
  });

  test("shrink sooner when nobody has written for a minute", () => {
    const decideQuiet = (rate: number, quietFor: number) =>
      decideScaling(steady(rate, quietFor), { shardCount: 100, calmSince: null, growing: false }, now, config);
    expect(decideQuiet(0, 59_999)).toMatchObject({ shardCount: 100, calmSince: now });
    expect(decideQuiet(0, 60_000)).toMatchObject({ shardCount: config.minShards, calmSince: null });
    expect(decideQuiet(100, 60_000)).toMatchObject({ shardCount: 100, calmSince: null });
  });

  test("start to cool down anew after one measurement that was not calm", () => {
    expect(decide(0.35, now - config.shrinkCooldown)).toMatchObject({ shardCount: 100, calmSince: null });
  });
});

test("a counter at its minimum is not waiting to shrink", () => {
  const config = { ...defaults, minShards: 10 };
  for (const calmSince of [null, now - 1, 0]) {
    expect(decideScaling(steady(0), { shardCount: 10, calmSince, growing: true }, now, config)).toEqual({
      shardCount: 10,
      calmSince: null,
      growing: false,
    });
  }
});

test("a counter that goes from nothing to 100 writes per second has 150 shards after a second", () => {
  const demand = { writes: 100, within: 1_000, quietFor: 0, isContended: false };
  expect(decideScaling(demand, { shardCount: 1, calmSince: null, growing: false }, now, defaults).shardCount).toBe(150);
});

describe("a counter of one shard, written a few times within a second", () => {
  const shardsFor = (writes: number, isContended: boolean) =>
    decideScaling(
      { writes, within: 1_000, quietFor: 0, isContended },
      { shardCount: 1, calmSince: null, growing: false },
      now,
      defaults,
    ).shardCount;

  test("grows if that is hardly chance", () => {
    expect([2, 3, 4, 10].map((writes) => shardsFor(writes, false))).toEqual([1, 1, 6, 15]);
  });

  test("grows anyway once a client had to spread wider", () => {
    expect([0, 1, 2, 3].map((writes) => shardsFor(writes, true))).toEqual([1, 2, 3, 5]);
  });
});

describe("a counter that has grown", () => {
  const grown = decideScaling(steady(100), { shardCount: 1, calmSince: null, growing: false }, now, defaults);
  const later = (rate: number, scaling: Scaling, millis: number) =>
    decideScaling(steady(rate), scaling, now + millis, defaults);

  test("is growing, until its writers have found the new shards", () => {
    expect(grown).toEqual({ shardCount: 150, calmSince: null, growing: true });
    expect(later(100, grown, 1_000)).toEqual({ shardCount: 150, calmSince: null, growing: false });
  });

  test("is growing as long as they have not, for ten seconds", () => {
    const calm = later(1, grown, 1_000);
    expect(calm).toEqual({ shardCount: 150, calmSince: now + 1_000, growing: true });
    expect([10_999, 11_000].map((millis) => later(1, calm, millis).growing)).toEqual([true, false]);
    expect(later(300, calm, 2_000)).toEqual({ shardCount: 450, calmSince: null, growing: true });
  });

  test("is not if it cannot", () => {
    const config = { ...defaults, maxShards: 150 };
    expect(decideScaling(steady(1_000), { ...grown, growing: false }, now, config)).toEqual({
      shardCount: 150,
      calmSince: null,
      growing: false,
    });
  });
});

test("the shard count is a whole number within its bounds, even if a wrong one was stored", () => {
  fc.assert(
    fc.property(demands, scalings, anyConfig, (demand, scaling, config) => {
      const { shardCount } = decideScaling(demand, scaling, now, config);
      return Number.isInteger(shardCount) && shardCount >= config.minShards && shardCount <= config.maxShards;
    }),
  );
});

test("after a measurement without chance the shards are at most 0.8 full, or are all there may be", () => {
  fc.assert(
    fc.property(rates, scalings, anyConfig, (rate, scaling, config) => {
      const { shardCount } = decideScaling(steady(rate), scaling, now, config);
      return shardCount === config.maxShards || rate <= shardCount * config.writesPerShard * 0.8 * (1 + 1e-3);
    }),
  );
});

test("growth is by half at least, for a saturated shard hides demand, or up to the maximum", () => {
  const counts = fc.integer({ min: 1, max: 10_000 });
  fc.assert(
    fc.property(demands, counts, (demand, before) => {
      const { shardCount } = decideScaling(
        demand,
        { shardCount: before, calmSince: null, growing: false },
        now,
        defaults,
      );
      return shardCount <= before || shardCount >= Math.min(before * 1.5, defaults.maxShards);
    }),
  );
});

test("a shrink is never a growth", () => {
  fc.assert(
    fc.property(demands, fc.integer({ min: 1, max: 10_000 }), (demand, before) => {
      const calm = { ...demand, quietFor: 1e9 };
      const grown =
        decideScaling(demand, { shardCount: before, calmSince: null, growing: false }, now, defaults).shardCount >
        before;
      return (
        grown ||
        decideScaling(calm, { shardCount: before, calmSince: 0, growing: false }, now, defaults).shardCount <= before
      );
    }),
  );
});

test("independent writers at a steady rate: in 1,000 measurements the count changes a few times and settles", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(0.5, 2, 10, 100, 300),
      fc.integer({ min: 1, max: 1_000 }),
      fc.integer({ min: 1, max: 2_147_483_646 }),
      (rate, shardCount, seed) => {
        const random = uniform(seed);
        let scaling: Scaling = { shardCount, calmSince: null, growing: false };
        let changes = 0;
        for (let second = 0; second < 1_000; second++) {
          const demand = { writes: poisson(rate, random), within: 1_000, quietFor: 0, isContended: false };
          const next = decideScaling(demand, scaling, now + second * 1_000, defaults);
          if (next.shardCount !== scaling.shardCount) changes++;
          scaling = next;
        }
        expect(changes).toBeLessThanOrEqual(8);
        expect(scaling.shardCount).toBeGreaterThanOrEqual(rate);
        expect(scaling.shardCount).toBeLessThanOrEqual(4 * rate + 20);
      },
    ),
    { numRuns: 20 },
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

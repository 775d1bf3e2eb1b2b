import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyConfig, anyCounter, defaults } from "./config.fixture.ts";
import { isSparse, publishInterval } from "./interval.ts";

describe("with the defaults, the interval in milliseconds", () => {
  test.each<[shardCount: number, rate: number, total: number, interval: number, because: string]>([
    [1, 0.05, 50, 1_000, "it is sparse"],
    [1, 0.0999, 1_000_000, 1_000, "it is sparse"],
    [1, 0.1, 0, 9_523.81, "of the budget"],
    [1, 0.2, 50, 4_761.9, "of the budget"],
    [2, 1, 500, 1_904.76, "of the budget"],
    [150, 100, 10_000, 1_428.57, "of the budget"],
    [100, 100, 500_000, 5_000, "of the precision"],
    [100, 100, -500_000, 5_000, "of the precision"],
    [100, 100, 1_000_000, 10_000, "of the precision"],
    [100, 100, 9_000_000, 10_000, "of the longest"],
    [1_000, 2_000, 100_000, 1_000, "of the shortest"],
    [20, 1, 500, 10_000, "of the longest"],
  ])(
    "of %i shards at %d writes per second and a total of %i is %d, because %s",
    (shardCount, rate, total, interval) => {
      expect(
        publishInterval({ shardCount, rate, total, shardDocuments: 1, silentShards: 0, growing: false }, defaults),
      ).toBeCloseTo(interval, 1);
      // Surplus shards that are not folded yet are read all the same, and must be paid for.
      const folding = { shardCount: 1, rate, total, shardDocuments: shardCount, silentShards: 0, growing: false };
      expect(publishInterval(folding, defaults)).toBeCloseTo(interval, 1);
    },
  );
});

test("a sparse counter has the longest interval if it is dear to measure: a large collection, not shards about to be folded", () => {
  const sparse = { shardCount: 2, rate: 0, total: 1_000_000, silentShards: 0, growing: false };
  const intervalOf = (shardDocuments: number) => publishInterval({ ...sparse, shardDocuments }, defaults);
  expect([0, 19, 20, 1_000].map(intervalOf)).toEqual([1_000, 1_000, 10_000, 10_000]);
  expect(publishInterval({ ...sparse, shardDocuments: 1_000, silentShards: 999 }, defaults)).toBe(1_000);
});

test("a counter that has just grown is measured as soon as its increments pay for it", () => {
  const intervalOf = (rate: number, growing: boolean) =>
    publishInterval(
      { shardCount: 200, rate, total: 1_000_000, silentShards: 98, shardDocuments: 99, growing },
      defaults,
    );
  expect([intervalOf(100, true), intervalOf(100, false)]).toEqual([1_000, 10_000]);
  expect([10, 1, 0.01].map((rate) => Math.round(intervalOf(rate, true)))).toEqual([3_300, 10_000, 1_000]);
});

test("the interval is within its bounds for every counter and configuration", () => {
  fc.assert(
    fc.property(anyCounter, anyConfig, (counter, config) => {
      const interval = publishInterval(counter, config);
      return interval >= config.minInterval && interval <= config.maxInterval;
    }),
  );
});

test("unless the longest interval forbids it, reading shards costs at most the budget's share of the increments", () => {
  fc.assert(
    fc.property(anyCounter, anyConfig, (counter, config) => {
      const interval = publishInterval(counter, config);
      fc.pre(!counter.growing && !isSparse(counter.rate, config) && interval < config.maxInterval);
      const reads = counter.shardCount * 0.06;
      const writes = counter.rate * (interval / 1_000) * 0.18;
      return reads <= config.budget * writes * (1 + 1e-9);
    }),
  );
});

test("a total below zero ages like one above", () => {
  fc.assert(
    fc.property(anyCounter, anyConfig, (counter, config) => {
      const mirrored = { ...counter, total: -counter.total };
      return publishInterval(mirrored, config) === publishInterval(counter, config);
    }),
  );
});

test("a counter is sparse if less than one write is expected within the longest interval", () => {
  const config = { ...defaults, maxInterval: 4_000 };
  expect([0, 0.2499, 0.25, 1].map((rate) => isSparse(rate, config))).toEqual([true, true, false, false]);
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyConfig, anyCounter, idle } from "../../testing/arbitraries.ts";
import { DEFAULT_CONFIG as defaults } from "../deploy/defaultConfig.ts";
import { isPollLost, isSparse, publishInterval } from "./interval.ts";

describe("with the defaults, the interval in milliseconds", () => {
  test.each<[rate: number, total: number, interval: number, because: string]>([
    [0.05, 50, 1_000, "it is sparse"],
    [0.0999, 1_000_000, 1_000, "it is sparse"],
    [0.1, 500, 5_000, "of the precision"],
    [1, 500, 1_000, "of the shortest"],
    [1, 5_000, 5_000, "of the precision"],
    [100, 10_000, 1_000, "of the shortest"],
    [100, 500_000, 5_000, "of the precision"],
    [100, -500_000, 5_000, "of the precision"],
    [100, 10_000_000, 10_000, "of the longest"],
  ])("at %d writes per second and a total of %i is %d, because %s", (rate, total, interval) => {
    expect(publishInterval({ total, rate, amountRate: rate, collectionCount: null }, defaults)).toBeCloseTo(
      interval,
      6,
    );
  });

  test("is that of the amounts if a write adds much, and that of the writes if they cancel out", () => {
    const counter = { total: 1_000_000, rate: 5, collectionCount: null };
    expect(publishInterval({ ...counter, amountRate: 1_000 }, defaults)).toBe(1_000);
    expect(publishInterval({ ...counter, amountRate: 200 }, defaults)).toBe(5_000);
    expect(publishInterval({ ...counter, rate: 500, amountRate: 0 }, defaults)).toBe(2_000);
  });

  test("of a counted collection is so long that counting costs at most 5 reads a second, and no longer than the longest", () => {
    const counting = (reads: number, total = 0, rate = 1) =>
      publishInterval({ total, rate, amountRate: rate, collectionCount: { path: "posts", reads } }, defaults);
    expect([1, 5, 6, 42, 50, 1_000].map((reads) => counting(reads))).toEqual([
      1_000, 1_000, 1_200, 8_400, 10_000, 10_000,
    ]);
    expect(counting(42, 42_000, 0)).toBe(8_400);
  });

  test("of shards that are listed because a sum was too slow is so long that the list costs at most 5 reads a second", () => {
    const counter = { total: 100, rate: 5, amountRate: 5, collectionCount: null, shardDocuments: 20 };
    expect(publishInterval({ ...counter, slowSince: null }, defaults)).toBe(1_000);
    expect(publishInterval({ ...counter, slowSince: 1 }, defaults)).toBe(4_000);
  });
});

test("the interval is within its bounds for every counter and configuration", () => {
  fc.assert(
    fc.property(anyCounter, fc.nat(), anyConfig, (counter, reads, config) => {
      const interval = publishInterval({ ...counter, collectionCount: { path: "posts", reads } }, config);
      return interval >= config.minInterval && interval <= config.maxInterval;
    }),
  );
});

test("a total below zero ages like one above", () => {
  fc.assert(
    fc.property(anyCounter, anyConfig, (counter, config) => {
      return publishInterval({ ...counter, total: -counter.total }, config) === publishInterval(counter, config);
    }),
  );
});

test("a counter is sparse if less than one write is expected within the longest interval", () => {
  const config = { ...defaults, maxInterval: 4_000 };
  expect([0, 0.2499, 0.25, 1].map((rate) => isSparse(rate, config))).toEqual([true, true, false, false]);
});

test("a poll is lost if it is more than a minute late", () => {
  const nextPollAt = idle.asOf + 10_000;
  const polled = { ...idle, phase: "scattered", nextPollAt } as const;
  expect([0, 60_000, 60_001, 1e9].map((late) => isPollLost(polled, nextPollAt + late))).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

test("a counter that is not polled has no lost poll", () => {
  fc.assert(
    fc.property(anyCounter, (counter) => {
      const { nextPollAt, asOf } = counter;
      expect(isPollLost(counter, Number.MAX_SAFE_INTEGER)).toBe(nextPollAt !== null);
      expect(isPollLost(counter, asOf)).toBe(false);
    }),
  );
});

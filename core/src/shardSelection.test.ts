import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_SHARDS } from "./layout.ts";
import { randomShard, shardForKey } from "./shardSelection.ts";

const spreads = fc.oneof(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: MAX_SHARDS }));
const keys = fc.string({ unit: "grapheme" });
const KEYS = Array.from({ length: 20_000 }, (_, i) => `user:${i}`);

/** Keys, or draws, per shard. */
function histogram(shards: Iterable<number>, spread: number): number[] {
  const counts = new Array<number>(spread).fill(0);
  for (const shard of shards) counts[shard] = (counts[shard] ?? 0) + 1;
  return counts;
}

describe("a random shard", () => {
  test("is an index in [0, spread), up to the largest number below 1", () => {
    const draws = fc.oneof(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.constant(1 - 2 ** -53));
    fc.assert(
      fc.property(spreads, draws, (spread, draw) => {
        const shard = randomShard(spread, () => draw);
        return Number.isInteger(shard) && shard >= 0 && shard < spread;
      }),
    );
  });

  test("is uniform: draws that are evenly spread hit every shard equally often", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 20 }), (spread, times) => {
        const draws = spread * times;
        const shards = Array.from({ length: draws }, (_, i) => randomShard(spread, () => (i + 0.5) / draws));
        return histogram(shards, spread).every((count) => count === times);
      }),
    );
  });
});

describe("the shard of a key", () => {
  test("is an index in [0, spread), the same every time", () => {
    fc.assert(
      fc.property(keys, spreads, (key, spread) => {
        const shard = shardForKey(key, spread);
        return Number.isInteger(shard) && shard >= 0 && shard < spread && shardForKey(key, spread) === shard;
      }),
    );
  });

  test("is 0 if there is one shard", () => {
    fc.assert(fc.property(keys, (key) => shardForKey(key, 1) === 0));
  });

  // Computed with the C code of the jump hash paper over FNV-1a of the UTF-8 bytes. Clients on other platforms agree.
  test.each([
    ["", [0, 1, 1, 90, 266, 6858]],
    ["a", [0, 1, 2, 31, 163, 4279]],
    ["user:42", [0, 1, 1, 80, 295, 3725]],
    ["ü😀", [0, 1, 2, 19, 920, 8116]],
  ])("is what the reference says: %j over 1, 2, 10, 100, 1,000 and 10,000 shards", (key, expected) => {
    expect([1, 2, 10, 100, 1_000, 10_000].map((spread) => shardForKey(key, spread))).toEqual(expected);
  });

  test("stays when the spread grows, or moves to one of the new shards", () => {
    fc.assert(
      fc.property(keys, spreads, spreads, (key, a, b) => {
        const [before, after] = [Math.min(a, b), Math.max(a, b)];
        const shard = shardForKey(key, after);
        return shard === shardForKey(key, before) || shard >= before;
      }),
    );
  });

  test.each([
    [1, 2],
    [10, 11],
    [100, 150],
  ])("moves for a share (b - a) / b of keys when the spread grows from %i to %i", (a, b) => {
    const moved = KEYS.filter((key) => shardForKey(key, a) !== shardForKey(key, b)).length / KEYS.length;
    expect(Math.abs(moved - (b - a) / b)).toBeLessThan(0.01);
  });

  test.each([3, 10, 100])("is as even over %i shards as chance: chi-squared within five deviations", (spread) => {
    const expected = KEYS.length / spread;
    const counts = histogram(
      KEYS.map((key) => shardForKey(key, spread)),
      spread,
    );
    const chiSquared = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    const freedom = spread - 1;
    expect(chiSquared).toBeLessThan(freedom + 5 * Math.sqrt(2 * freedom));
  });
});

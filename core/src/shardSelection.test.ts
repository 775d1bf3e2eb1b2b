import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_SHARDS } from "./layout.ts";
import { partOfShard0, randomShard } from "./shardSelection.ts";

const shardCounts = fc.oneof(fc.integer({ min: 1, max: 64 }), fc.double({ min: 1, max: MAX_SHARDS, noNaN: true }));
const draws = fc.oneof(
  fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  fc.constantFrom(0, 1 / MAX_SHARDS, 1 - 2 ** -53),
);

describe("a random shard", () => {
  test("has a decimal id below the shard count, even for the largest draw below 1", () => {
    fc.assert(
      fc.property(shardCounts, draws, (shardCount, draw) => {
        const shard = randomShard(shardCount, () => draw);
        expect(shard).toMatch(/^(0|[1-9]\d*)$/);
        expect(Number(shard)).toBeLessThan(shardCount);
      }),
    );
  });

  test("is shard 0 or one of the last seven eighths: evenly spaced draws choose these equally often, the two lowest in shares", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 20 }), (shardCount, times) => {
        const leftOut = Math.floor(shardCount / 8);
        const draws = (shardCount - leftOut) * 8 * times;
        const hits: Record<string, number> = {};
        for (let i = 0; i < draws; i++) {
          const shard = randomShard(shardCount, () => (i + 0.5) / draws);
          hits[shard] = (hits[shard] ?? 0) + 1;
        }
        const expected = Array.from({ length: shardCount - leftOut }, (_, n) => [`${leftOut + n}`, 8 * times] as const);
        const lowest = leftOut > 0 ? { 0: times, [leftOut]: 7 * times } : {};
        expect(hits).toEqual({ ...Object.fromEntries(expected), ...lowest });
        expect((hits[0] ?? 0) / draws).toBeCloseTo(partOfShard0(shardCount), 12);
      }),
    );
  });
});

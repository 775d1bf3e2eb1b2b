import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_SHARDS } from "./layout.ts";
import { randomShard } from "./shardSelection.ts";

const shardCounts = fc.oneof(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: MAX_SHARDS }));

describe("a random shard", () => {
  test("has a decimal id below the shard count, even for the largest draw below 1, and is none of the first eighth", () => {
    const draws = fc.oneof(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.constant(1 - 2 ** -53));
    fc.assert(
      fc.property(shardCounts, draws, (shardCount, draw) => {
        const shard = randomShard(shardCount, () => draw);
        expect(shard).toMatch(/^(0|[1-9]\d*)$/);
        expect(Number(shard)).toBeLessThan(shardCount);
        expect(Number(shard)).toBeGreaterThanOrEqual(Math.floor(shardCount / 8));
      }),
    );
  });

  test("is uniform: evenly spaced draws choose each of the others equally often", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 20 }), (shardCount, times) => {
        const chosen = shardCount - Math.floor(shardCount / 8);
        const draws = chosen * times;
        const hits = new Map<string, number>();
        for (let i = 0; i < draws; i++) {
          const shard = randomShard(shardCount, () => (i + 0.5) / draws);
          hits.set(shard, (hits.get(shard) ?? 0) + 1);
        }
        return hits.size === chosen && [...hits.values()].every((count) => count === times);
      }),
    );
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_SHARDS } from "./layout.ts";
import { randomShard } from "./shardSelection.ts";

const spreads = fc.oneof(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: MAX_SHARDS }));

describe("a random shard", () => {
  test("is the id of one in [0, spread): a decimal number, up to the largest draw below 1", () => {
    const draws = fc.oneof(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.constant(1 - 2 ** -53));
    fc.assert(
      fc.property(spreads, draws, (spread, draw) => {
        const shard = randomShard(spread, () => draw);
        expect(shard).toMatch(/^(0|[1-9]\d*)$/);
        expect(Number(shard)).toBeLessThan(spread);
      }),
    );
  });

  test("is uniform: draws that are evenly spread hit every shard equally often", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 20 }), (spread, times) => {
        const draws = spread * times;
        const hits = new Map<string, number>();
        for (let i = 0; i < draws; i++) {
          const shard = randomShard(spread, () => (i + 0.5) / draws);
          hits.set(shard, (hits.get(shard) ?? 0) + 1);
        }
        return hits.size === spread && [...hits.values()].every((count) => count === times);
      }),
    );
  });
});

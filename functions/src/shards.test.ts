import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_SHARDS } from "../../core/src/index.ts";
import { toTimestamp } from "./counterDocument.ts";
import { hasSilentShards, type Measurement, shardsBeyond } from "./measurement.ts";
import { MAX_LISTED_SHARDS, shardIndex } from "./shards.ts";

const asOf = toTimestamp(1_700_000_000_000);

function listed(ids: readonly string[], malformed: readonly string[] = []): Measurement {
  const shards = ids.map((id) => ({ id, count: 1, writes: 1, updatedAt: asOf }));
  return { total: ids.length, writes: ids.length, asOf, documents: ids.length + malformed.length, shards, malformed };
}
const summed = (documents: number): Measurement => ({ total: 0, writes: 0, asOf, documents });

describe("the index of a shard", () => {
  test("is its number, for each of 0 to 9,999", () => {
    fc.assert(fc.property(fc.nat(MAX_SHARDS - 1), (n) => shardIndex(String(n)) === n));
    expect([shardIndex("0"), shardIndex("9999")]).toEqual([0, 9_999]);
  });

  test("is undefined for every id that is not such a number written plainly", () => {
    for (const id of ["base", "", "00", "01", "-1", "+1", "1.0", "1e3", "10000", "1\n", " 1", "١"]) {
      expect(shardIndex(id)).toBeUndefined();
    }
    fc.assert(fc.property(fc.string(), (id) => shardIndex(id) === undefined || String(shardIndex(id)) === id));
  });
});

test.each<[ids: string[], malformed: string[], silent: boolean]>([
  [[], [], false],
  [["0"], [], false],
  [["0", "base"], [], false],
  [["base"], ["0"], false],
  [["0", "1"], [], true],
  [["9999"], [], true],
  [["0"], ["1"], true],
  [["0", "imported"], [], true],
])("of shards %j, malformed %j, some wake nothing when they are written: %j", (ids, malformed, silent) => {
  expect(hasSilentShards(listed(ids, malformed))).toBe(silent);
});

test("of more shards than are listed, some wake nothing: only two wake the functions", () => {
  expect(MAX_LISTED_SHARDS).toBeGreaterThanOrEqual(2);
  expect(hasSilentShards(summed(MAX_LISTED_SHARDS + 1))).toBe(true);
});

test("of a collection that is counted instead, nothing is silent", () => {
  expect(hasSilentShards({ ...summed(0), counted: { path: "posts", reads: 1 } })).toBe(false);
});

describe("how many shards lie beyond the shard count", () => {
  test("is exact where they were listed; base and other documents do not", () => {
    const ids = fc.uniqueArray(fc.oneof(fc.nat(20).map(String), fc.constantFrom("base", "imported")));
    fc.assert(
      fc.property(ids, fc.integer({ min: 1, max: 20 }), (some, count) => {
        expect(shardsBeyond(listed(some), count)).toBe(some.filter((id) => Number(id) >= count).length);
      }),
    );
  });

  test("is never overestimated where they were not: one of them may be base", () => {
    const ids = fc.uniqueArray(fc.oneof(fc.nat(40).map(String), fc.constant("base")), { minLength: 4 });
    fc.assert(
      fc.property(ids, fc.integer({ min: 1, max: 40 }), (some, count) => {
        const beyond = shardsBeyond(summed(some.length), count);
        expect(beyond).toBeGreaterThanOrEqual(0);
        expect(beyond).toBeLessThanOrEqual(shardsBeyond(listed(some), count));
      }),
    );
    expect(shardsBeyond(summed(13), 10)).toBe(2);
  });
});

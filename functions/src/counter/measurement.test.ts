import fc from "fast-check";
import { type QuerySnapshot, Timestamp } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { sumOfListed } from "../../../firestore/src/index.ts";
import { toTimestamp } from "./fields.ts";
import { hasSilentShards, includesWrite, type Measurement, shardsBeyond } from "./measurement.ts";
import { MAX_LISTED_SHARDS } from "./shards.ts";

const now = 1_700_000_000_000;

/** What listing such shards comes to. */
function sumOf(shards: Record<string, Record<string, unknown>>, updateTime = toTimestamp(now)): Measurement {
  const docs = Object.entries(shards).map(([id, data]) => ({ id, updateTime, get: (field: string) => data[field] }));
  return sumOfListed({ docs, size: docs.length, readTime: toTimestamp(now) } as unknown as QuerySnapshot);
}

describe("a list of shards", () => {
  test("is summed, base and foreign ones too, at the query's read time", () => {
    const shards = { "0": { count: 3, writes: 3 }, base: { count: -1.5, writes: 8 }, other: { count: 2, writes: 1 } };
    const measurement = sumOf(shards);
    expect(measurement).toMatchObject({ total: 3.5, writes: 12, documents: 3, asOf: toTimestamp(now), malformed: [] });
    expect(measurement.shards?.map(({ id, count, writes }) => [id, count, writes])).toEqual([
      ["0", 3, 3],
      ["base", -1.5, 8],
      ["other", 2, 1],
    ]);
  });

  test("takes an absent count for 0, and writes that are no number for 0", () => {
    const wrong = [undefined, null, "5", -1, Number.NaN, Number.POSITIVE_INFINITY];
    const shards = Object.fromEntries(wrong.map((writes, i) => [i, i === 0 ? {} : { count: 1, writes }]));
    expect(sumOf(shards)).toMatchObject({ total: 5, writes: 0, documents: 6, malformed: [] });
  });

  test("leaves counts out that are not finite numbers and names their shards, whose writes keep feeding the rate", () => {
    const measurement = sumOf({
      "0": { count: "7", writes: 9 },
      "1": { count: 1, writes: 1 },
      "2": { count: Number.NaN, writes: 9 },
    });
    expect(measurement).toMatchObject({ total: 1, writes: 19, documents: 3, malformed: ["0", "2"] });
    expect(measurement.shards?.map(({ id }) => id)).toEqual(["1"]);
  });

  test.each([
    [{ a: 1, b: "7" }, false],
    [{ a: 1, b: Number.NaN }, true],
    [{ a: Number.NEGATIVE_INFINITY }, true],
    [{ a: 1e308, b: 1e308 }, true],
    [{ a: 1e308, b: -1e308 }, false],
  ])("of %j overflows: %j", (counts, overflows) => {
    const shards = Object.fromEntries(Object.entries(counts).map(([id, count]) => [id, { count }]));
    expect(sumOf(shards)).toMatchObject({ overflows });
  });
});

describe("a measurement is certain to include a write", () => {
  const found = (updatedAt: Timestamp): Measurement =>
    sumOf({ "7": { count: 1, writes: 1 }, "8": { count: "x" } }, updatedAt);

  test("if it found its shard as that write left it, or later", () => {
    const measurement = found(toTimestamp(now));
    expect([now - 1, now, now + 0.001].map((at) => includesWrite(measurement, "7", at))).toEqual([true, true, false]);
    expect(includesWrite(found(new Timestamp(1_700_000_000, 1_000)), "7", now + 0.001)).toBe(true);
  });

  test("but not if the shard was left out, is another, or was not listed", () => {
    const measurement = found(toTimestamp(now));
    const summed: Measurement = { total: 1, writes: 1, documents: 9, asOf: toTimestamp(now) };
    expect([
      includesWrite(measurement, "8", 0),
      includesWrite(measurement, "6", 0),
      includesWrite(measurement, undefined, 0),
    ]).toEqual([false, false, false]);
    expect(includesWrite(summed, "7", 0)).toBe(false);
  });
});

const asOf = toTimestamp(now);

function listed(ids: readonly string[], malformed: readonly string[] = []): Measurement {
  const shards = ids.map((id) => ({ id, count: 1, writes: 1, updatedAt: asOf }));
  return { total: ids.length, writes: ids.length, asOf, documents: ids.length + malformed.length, shards, malformed };
}
const summed = (documents: number): Measurement => ({ total: 0, writes: 0, asOf, documents });

test.each<[ids: string[], malformed: string[], silent: boolean]>([
  [[], [], false],
  [["0"], [], false],
  [["0", "base"], [], false],
  [["base"], ["0"], false],
  [["0", "1"], [], true],
  [["9999"], [], true],
  [["0"], ["1"], true],
  [["0", "imported"], [], true],
])("of shards %j, malformed %j, some are silent: %j", (ids, malformed, silent) => {
  expect(hasSilentShards(listed(ids, malformed))).toBe(silent);
});

test("of unlisted shards some are silent, since only two trigger the functions", () => {
  expect(MAX_LISTED_SHARDS).toBeGreaterThanOrEqual(2);
  expect(hasSilentShards(summed(MAX_LISTED_SHARDS + 1))).toBe(true);
});

test("where all updates trigger, only shards beyond those that a feature keeps are silent", () => {
  expect(hasSilentShards(listed(["0", "1", "2", "base"]), 3)).toBe(false);
  expect(hasSilentShards(listed(["3"]), 3)).toBe(true);
  expect(hasSilentShards(listed([], ["imported"]), 3)).toBe(true);
  expect([11, 12].map((documents) => hasSilentShards(summed(documents), 10))).toEqual([false, true]);
});

test("a counter that counts a collection has no silent shards", () => {
  expect(hasSilentShards({ ...summed(0), collectionCount: { path: "posts", reads: 1 } })).toBe(false);
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

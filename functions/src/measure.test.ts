import fc from "fast-check";
import type { CollectionReference } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { MAX_SHARDS } from "../../core/src/index.ts";
import { toTimestamp } from "./counter.ts";
import { includes, type Measurement, measure, shardIndex } from "./measure.ts";

const now = 1_700_000_000_000;

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

describe("a measurement", () => {
  /** A collection of shards, as far as a measurement reads it. */
  function collection(shards: Record<string, Record<string, unknown>>, updateTime = toTimestamp(now)) {
    const get = async (fields: string[]) => ({
      readTime: toTimestamp(now),
      docs: Object.entries(shards).map(([id, data]) => ({
        id,
        updateTime,
        get: (field: string) => (fields.includes(field) ? data[field] : undefined),
      })),
    });
    return { select: (...fields: string[]) => ({ get: () => get(fields) }) } as unknown as CollectionReference;
  }

  test("sums every shard there is, base and foreign ones too, at the query's read time", async () => {
    const shards = { "0": { count: 3, writes: 3 }, base: { count: -1.5, writes: 8 }, other: { count: 2, writes: 1 } };
    const measurement = await measure(collection(shards));
    expect(measurement).toMatchObject({ total: 3.5, writes: 12, asOf: toTimestamp(now), malformed: [] });
    expect(measurement.shards.map(({ id, count, writes }) => [id, count, writes])).toEqual([
      ["0", 3, 3],
      ["base", -1.5, 8],
      ["other", 2, 1],
    ]);
  });

  test("takes an absent count for nothing, and writes that are none for none", async () => {
    const wrong = [undefined, null, "5", -1, Number.NaN, Number.POSITIVE_INFINITY];
    const shards = Object.fromEntries(wrong.map((writes, i) => [i, i === 0 ? {} : { count: 1, writes }]));
    expect(await measure(collection(shards))).toMatchObject({ total: 5, writes: 0, malformed: [] });
  });

  test("leaves counts out that are not finite numbers and names their shards, whose writes keep feeding the rate", async () => {
    const shards = {
      "0": { count: "7", writes: 9 },
      "1": { count: 1, writes: 1 },
      "2": { count: Number.NaN, writes: 9 },
    };
    const measurement = await measure(collection(shards));
    expect(measurement).toMatchObject({ total: 1, writes: 19, malformed: ["0", "2"] });
    expect(measurement.shards.map(({ id }) => id)).toEqual(["1"]);
  });

  test("includes a write if it found its shard as that write left it, or later", () => {
    const found = { id: "7", count: 1, writes: 1, updatedAt: toTimestamp(now) };
    const measurement: Measurement = { total: 1, writes: 1, asOf: toTimestamp(now), shards: [found], malformed: ["8"] };
    expect([now - 1, now, now + 0.001].map((at) => includes(measurement, "7", at))).toEqual([true, true, false]);
    expect([includes(measurement, "8", now), includes(measurement, "6", 0)]).toEqual([false, false]);
  });
});

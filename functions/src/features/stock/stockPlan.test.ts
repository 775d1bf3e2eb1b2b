import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_STOCK_SHARDS, MAX_TAKE } from "../../../../core/src/index.ts";
import { runs } from "../../../../core/testing/runs.ts";
import { inWords, measured, shard, situations, T } from "../../../testing/situations.ts";
import type { Cause } from "../../counter/cause.ts";
import { decide } from "../../counter/decide.ts";
import { shardSettingsOf } from "../../counter/shardSettings.ts";
import type { Published } from "../../counter/types.ts";
import { DEFAULT_CONFIG as defaults } from "../../deploy/defaultConfig.ts";
import { planTransfers, stockIn } from "./stockPlan.ts";

const listed = (counts: Record<string, number>) =>
  Object.entries(counts).map(([id, count]) => ({ ...shard(id), count }));

/** The counts after all transfers are made. */
function after(counts: Record<string, number>, shardCount: number): Record<string, number> {
  const left = { ...counts };
  for (const { from, to } of planTransfers(listed(counts), shardCount)) {
    for (const [id, units] of Object.entries(to)) {
      left[from.id] = (left[from.id] ?? 0) - units;
      left[id] = (left[id] ?? 0) + units;
    }
  }
  return left;
}

test("a bounded counter has as many shards as can hold stock, and lists twice as many", () => {
  const settings = (maxShards: number, isBounded = true) => {
    return shardSettingsOf({ stock: { isBounded } }, { ...defaults, minShards: 5, maxShards });
  };
  const others = { keptShards: 1, triggerShards: 1 };
  const listed = { mostListed: 200, foldsOnlyEmpty: true, ...others };
  expect(settings(10_000)).toEqual({ minShards: 1, maxShards: MAX_STOCK_SHARDS, ...listed });
  expect(settings(7)).toEqual({ minShards: 1, maxShards: 7, ...listed });
  expect(settings(7, false)).toEqual({ minShards: 5, maxShards: 7, mostListed: 3, foldsOnlyEmpty: false, ...others });
});

describe("units are moved", () => {
  test.each<[what: string, shardCount: number, before: Record<string, number>, after: Record<string, number>]>([
    ["from a single shard to as many as writers use", 4, { 0: 100 }, { 0: 25, 1: 25, 2: 25, 3: 25 }],
    ["to fewer shards, as they run out", 4, { 0: 15, 1: 9, 2: 10, 3: 8 }, { 0: 21, 1: 21, 2: 0, 3: 0 }],
    ["to shard 0, the last ones", 20, { 3: 1, 7: 2, 19: 1 }, { 0: 4, 3: 0, 7: 0, 19: 0 }],
    ["out of base", 1, { base: 30, 0: 5 }, { base: 0, 0: 35 }],
    ["from the richest shard to one that runs low", 3, { 0: 9, 1: 31, 2: 50 }, { 0: 30, 1: 30, 2: 30 }],
    ["not between shards that have enough", 3, { 0: 20, 1: 31, 2: 50 }, { 0: 20, 1: 31, 2: 50 }],
    ["to shards of a quiet counter that gets fewer", 1, { 0: 25, 1: 25, 2: 25 }, { 0: 75, 1: 0, 2: 0 }],
    ["not from a shard below zero, or with a fraction", 2, { 0: -5, 1: 0.5, 2: 7 }, { 0: 2, 1: 0.5, 2: 0 }],
  ])("%s", (_, shardCount, before, expected) => {
    expect(after(before, shardCount)).toEqual(expected);
  });
});

describe("for any stock", () => {
  const ids = fc.oneof(fc.nat(30).map(String), fc.constantFrom("base", "9999"));
  const stocks = fc.dictionary(ids, fc.oneof(fc.nat(12), fc.nat(3_000)), { maxKeys: 30 });
  const check = (holds: (before: Record<string, number>, shardCount: number) => void) =>
    fc.assert(
      fc.property(stocks, fc.integer({ min: 1, max: 200 }), (before, shardCount) => holds({ ...before }, shardCount)),
      runs(2_000),
    );
  const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, count) => all + count, 0);

  test("no unit is made or lost, and no shard falls below zero", () =>
    check((before, shardCount) => {
      const left = after(before, shardCount);
      expect(sum(left)).toBe(sum(before));
      expect(Math.min(0, ...Object.values(left))).toBe(0);
    }));

  test("each shard with units has enough for the largest take, or for all that is left; base has none", () =>
    check((before, shardCount) => {
      const left = after(before, shardCount);
      const stocked = Object.values(stockIn(listed(left)));
      expect(stocked.every((count) => count >= Math.min(MAX_TAKE, sum(left)))).toBe(true);
      expect(stocked.length).toBeLessThanOrEqual(Math.min(shardCount, MAX_STOCK_SHARDS));
      expect(left.base ?? 0).toBe(0);
    }));

  test("once moved, nothing is left to move", () =>
    check((before, shardCount) => {
      expect(planTransfers(listed(after(before, shardCount)), shardCount)).toEqual([]);
    }));

  test("no shard gives and gets", () =>
    check((before, shardCount) => {
      const transfers = planTransfers(listed(before), shardCount);
      const gets = new Set(transfers.flatMap(({ to }) => Object.keys(to)));
      expect(transfers.some(({ from }) => gets.has(from.id))).toBe(false);
    }));
});

test("a quiet bounded counter folds the shards beyond its reservation, and none that holds stock", () => {
  const until = T + 3_600_000;
  const cooling: Published = { ...(situations.cooling as Published), total: 80, shardCount: 3, shardDocuments: 4 };
  const cause: Cause = { at: T + 410_000, isPoll: true };
  const step = (shards: readonly string[]) => {
    const stocked = shards.map((id) => ({ ...shard(id), count: Number(id) < 3 ? 20 : 0 }));
    const measurement = measured(cooling, T + 601_000, { documents: shards.length, shards: stocked });
    const known = { previous: cooling, measurement, stock: { isBounded: true }, reservation: { shards: 3, until } };
    return inWords(decide(cause, known, T + 601_000, 0, defaults));
  };
  expect(step(["0", "1", "2", "3"])).toBe("fold from 3");
  expect(step(["0", "1", "2"])).toBe("publish cooling of 3, poll 611");
});

test.each([true, false])("a bounded counter keeps units where they are, if its shards were listed: %s", (isListed) => {
  const documents = isListed ? 4 : 300;
  const cooling: Published = {
    ...(situations.cooling as Published),
    shardCount: 3,
    shardDocuments: documents,
    calmSince: T,
  };
  const shards = ["0", "1", "2", "3"].map((id) => ({ ...shard(id), count: 1_000 }));
  const measurement = measured(cooling, T + 601_000, isListed ? { documents, shards } : { documents });
  const reservation = { shards: 3, until: T + 3_600_000 };
  const known = { previous: cooling, measurement, stock: { isBounded: true }, reservation, isPrepared: true };
  const step = decide({ at: T + 410_000, isPoll: true }, known, T + 601_000, 0, defaults);
  expect(step).toMatchObject({ do: "fold", fromIndex: 3, onlyEmpty: isListed });
});

import { describe, expect, test } from "vitest";
import { cellGrid } from "./cellGrid.ts";
import type { ShardListing } from "./listShards.ts";
import { colourStrength, isActive, shardActivity, withoutWrites } from "./shardActivity.ts";

const listing = (at: number, writes: Record<string, number>): ShardListing => ({
  at,
  shards: Object.entries(writes).map(([id, count]) => ({ id, writes: count })),
});

describe("the activity of a shard", () => {
  test("is unknown at the first listing, then its writes per second, smoothed", () => {
    const first = listing(0, { 0: 100 });
    const before = shardActivity(first, undefined, undefined);
    expect(before).toEqual([{ index: 0, perSecond: 0 }]);
    const second = listing(2_000, { 0: 110, 1: 4 });
    expect(shardActivity(second, first, undefined)).toEqual([
      { index: 0, perSecond: 5 },
      { index: 1, perSecond: 2 },
    ]);
    expect(shardActivity(second, first, before)[0]?.perSecond).toBeCloseTo(3);
  });

  test("leaves out base, and is in the order of shard numbers", () => {
    const after = listing(2_000, { base: 90, 10: 1, 9: 1 });
    expect(shardActivity(after, listing(0, { base: 0, 10: 1, 9: 1 }), undefined)).toEqual([
      { index: 9, perSecond: 0 },
      { index: 10, perSecond: 0 },
    ]);
  });

  test("is never negative, and finite for two listings at one instant", () => {
    const activity = shardActivity(listing(0, { 0: 5, 1: 1 }), listing(0, { 0: 0, 1: 9 }), undefined);
    expect(activity.map(({ perSecond }) => perSecond)).toEqual([10, 0]);
  });

  test("ends soon after the last write", () => {
    let activity = shardActivity(listing(1_000, { 0: 9 }), listing(0, { 0: 0 }), undefined);
    expect(withoutWrites(activity)).toEqual([{ index: 0, perSecond: 0 }]);
    for (let at = 2_000; activity.some(isActive); at += 1_000) {
      expect(at).toBeLessThan(12_000);
      activity = shardActivity(listing(at, { 0: 9 }), listing(at - 1_000, { 0: 9 }), activity);
    }
  });

  test("of one write a second colours a cell by more than half, and no activity colours it fully", () => {
    expect(colourStrength(0)).toBe(0);
    expect(colourStrength(1)).toBeGreaterThan(0.5);
    expect(colourStrength(1_000)).toBeLessThan(1);
  });
});

test("every shard has its cell, in one row as long as cells can be told apart", () => {
  for (const width of [320, 1_000]) {
    for (const count of [0, 1, 2, 40, 53, 54, 500, 1_000, 10_000]) {
      const { rows, columns } = cellGrid(count, width, 100);
      expect(rows * columns).toBeGreaterThanOrEqual(count);
      if (rows > 1) expect((rows - 1) * columns).toBeLessThan(count);
      else expect(width / columns).toBeLessThan(2.2 * 100);
      if (rows > 1) expect(width / count).toBeLessThan(6.5);
      expect(100 / rows).toBeGreaterThanOrEqual(3);
    }
  }
});

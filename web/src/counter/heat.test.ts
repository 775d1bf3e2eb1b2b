import { describe, expect, test } from "vitest";
import { gridOf } from "./grid.ts";
import { cold, colourOf, heatOf, isWarm } from "./heat.ts";
import type { Look } from "./shards.ts";

const look = (at: number, writes: Record<string, number>): Look => ({
  at,
  shards: Object.entries(writes).map(([id, count]) => ({ id, writes: count })),
});

describe("the heat of a shard", () => {
  test("is unknown at the first look, then its writes per second, with a memory of what it was", () => {
    const first = look(0, { 0: 100 });
    const before = heatOf(first, undefined, undefined);
    expect(before).toEqual([{ index: 0, heat: 0 }]);
    const second = look(2_000, { 0: 110, 1: 4 });
    expect(heatOf(second, first, undefined)).toEqual([
      { index: 0, heat: 5 },
      { index: 1, heat: 2 },
    ]);
    expect(heatOf(second, first, before)[0]?.heat).toBeCloseTo(3);
  });

  test("is of clients' shards alone: base has no cell, whatever was folded into it", () => {
    const heat = heatOf(look(2_000, { base: 90, 10: 1, 9: 1 }), look(0, { base: 0, 10: 1, 9: 1 }), undefined);
    expect(heat).toEqual([
      { index: 9, heat: 0 },
      { index: 10, heat: 0 },
    ]);
  });

  test("is never below nothing, and two looks at one instant do not make it endless", () => {
    const cells = heatOf(look(0, { 0: 5, 1: 1 }), look(0, { 0: 0, 1: 9 }), undefined);
    expect(cells.map(({ heat }) => heat)).toEqual([10, 0]);
  });

  test("that is left of what was is none", () => {
    let heat = heatOf(look(1_000, { 0: 9 }), look(0, { 0: 0 }), undefined);
    for (let at = 2_000; heat.some(isWarm); at += 1_000) {
      expect(at).toBeLessThan(12_000);
      heat = heatOf(look(at, { 0: 9 }), look(at - 1_000, { 0: 9 }), heat);
    }
    expect(cold(heatOf(look(1_000, { 0: 9 }), look(0, { 0: 0 }), undefined))).toEqual([{ index: 0, heat: 0 }]);
  });

  test("of one write a second, what a document takes, colours a cell by more than half, and none is ever full", () => {
    expect(colourOf(0)).toBe(0);
    expect(colourOf(1)).toBeGreaterThan(0.5);
    expect(colourOf(1_000)).toBeLessThan(1);
  });
});

test("every shard has its cell, in one row as long as cells can be told apart", () => {
  for (const width of [320, 1_000]) {
    for (const count of [0, 1, 2, 40, 53, 54, 500, 1_000, 10_000]) {
      const { rows, columns } = gridOf(count, width, 100);
      expect(rows * columns).toBeGreaterThanOrEqual(count);
      if (rows > 1) expect((rows - 1) * columns).toBeLessThan(count);
      else expect(width / columns).toBeLessThan(2.2 * 100);
      if (rows > 1) expect(width / count).toBeLessThan(6.5);
      expect(100 / rows).toBeGreaterThanOrEqual(3);
    }
  }
});

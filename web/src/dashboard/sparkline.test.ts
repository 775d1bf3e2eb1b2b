import { expect, test } from "vitest";
import type { Point } from "../counter/rate.ts";
import { type RecentRates, recordRate, SPARKLINE_MS, sparklinePoints } from "./sparkline.ts";

const point = (at: number, rate: number): Point => ({ at, rate, shardCount: 1 });

test("a sparkline keeps a minute, has one point per publish, and ends now", () => {
  const rates: RecentRates = new Map();
  for (let at = 0; at <= 2 * SPARKLINE_MS; at += 20_000) {
    recordRate(rates, "a", point(at, 5));
    recordRate(rates, "a", point(at, 9));
  }
  const known = rates.get("a") ?? [];
  expect(known.map(({ at }) => at)).toEqual([80_000, 100_000, 120_000]);
  expect(sparklinePoints(known, 140_000)).toBe("0.0,1.0 33.3,1.0 66.7,1.0 100.0,1.0");
  expect(sparklinePoints([], 0)).toBe("");
  expect(sparklinePoints([point(0, 0)], 0)).toBe("");
});

test("the line of an idle counter falls, and is gone a minute later", () => {
  const idle = { ...point(0, 5), isIdle: true };
  expect(sparklinePoints([idle], 30_000)).toBe("50.0,1.0 70.0,19.0 100.0,19.0");
  expect(sparklinePoints([idle], 2 * SPARKLINE_MS)).toBe("");
});

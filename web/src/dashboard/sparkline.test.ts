import { expect, test } from "vitest";
import { type RecentRates, recordRate, SPARKLINE_MS, sparklinePoints } from "./sparkline.ts";

test("a sparkline keeps a minute, has one point per publish, and ends now", () => {
  const rates: RecentRates = new Map();
  for (let at = 0; at <= 2 * SPARKLINE_MS; at += 20_000) {
    recordRate(rates, "a", { at, rate: 5 });
    recordRate(rates, "a", { at, rate: 9 });
  }
  const known = rates.get("a") ?? [];
  expect(known.map(({ at }) => at)).toEqual([80_000, 100_000, 120_000]);
  expect(sparklinePoints(known, 140_000)).toBe("0.0,1.0 33.3,1.0 66.7,1.0 100.0,1.0");
  expect(sparklinePoints([], 0)).toBe("");
  expect(sparklinePoints([{ at: 0, rate: 0 }], 0)).toBe("");
});

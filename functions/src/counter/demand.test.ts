import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { averageRate, RATE_TIME_CONSTANT } from "./demand.ts";

const rates = fc.oneof(fc.double({ min: 0, max: 5, noNaN: true }), fc.double({ min: 0, max: 1e6, noNaN: true }));
const times = fc.double({ min: 1, max: 1e8, noNaN: true });

describe("the rate", () => {
  test("lies between the rate before and the rate of the period, or is 0 once writing has stopped", () => {
    fc.assert(
      fc.property(rates, fc.nat(1e6), times, (before, writes, within) => {
        const rate = averageRate(before, writes, within);
        const seen = (writes * 1_000) / within;
        const [low, high] = [Math.min(before, seen) * (1 - 1e-5), Math.max(before, seen) * (1 + 1e-5)];
        return (rate >= low && rate <= high) || (rate === 0 && writes === 0);
      }),
    );
  });

  test("does not depend on how often a steady counter is measured", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: 1, max: 20 }), (perSecond, steps) => {
        let rate = 0;
        for (let n = 0; n < steps; n++) rate = averageRate(rate, (perSecond * 10) / steps, 10_000 / steps);
        expect(rate).toBeCloseTo(perSecond * (1 - Math.exp(-10_000 / RATE_TIME_CONSTANT)), perSecond > 100 ? 0 : 2);
      }),
    );
  });

  test("falls to a third in 5 seconds without writes, and to 0 if that is no chance", () => {
    expect(averageRate(0.5, 0, 5_000)).toBeCloseTo(0.5 * Math.exp(-1), 5);
    expect(averageRate(9.9, 0, 1_000)).toBeCloseTo(9.9 * Math.exp(-0.2), 4);
    expect(averageRate(10, 0, 1_000)).toBe(0);
  });
});

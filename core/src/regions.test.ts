import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mergeRegisters, type RegionTotal, type RegionTotals, sumRegisters } from "./regions.ts";
import { eachWindow } from "./windows.ts";

const register: fc.Arbitrary<RegionTotal<number>> = fc.record({
  total: fc.integer({ min: -5, max: 5 }),
  asOf: fc.nat(4),
  windows: fc.constant(null),
});
const registers = fc.dictionary(fc.constantFrom("us", "eu", "asia", "sa"), register, { noNullPrototype: true });

describe("merging registers", () => {
  test("is commutative", () => {
    fc.assert(
      fc.property(registers, registers, (a, b) => {
        expect(mergeRegisters(a, b)).toEqual(mergeRegisters(b, a));
      }),
    );
  });

  test("is associative", () => {
    fc.assert(
      fc.property(registers, registers, registers, (a, b, c) => {
        expect(mergeRegisters(mergeRegisters(a, b), c)).toEqual(mergeRegisters(a, mergeRegisters(b, c)));
      }),
    );
  });

  test("is idempotent, and returns the same object if nothing is news", () => {
    fc.assert(
      fc.property(registers, registers, (a, b) => {
        const merged = mergeRegisters(a, b);
        expect(mergeRegisters(merged, b)).toBe(merged);
        expect(mergeRegisters(merged, a)).toBe(merged);
      }),
    );
  });

  test("keeps the later register of a region, and those of all others", () => {
    const known: RegionTotals<number> = { us: at(2, 20), eu: at(5, 50) };
    expect(mergeRegisters(known, { us: at(3, 19), eu: at(4, 70), asia: at(1, 1) })).toEqual({
      us: at(3, 19),
      eu: at(5, 50),
      asia: at(1, 1),
    });
  });
});

describe("the sum", () => {
  test("does not depend on the order in which registers arrived", () => {
    const fractions = { a: at(1, 0.1), b: at(1, 0.2), c: at(1, 0.3) };
    const { a, b, c } = fractions;
    expect(sumRegisters({ c, b, a })).toEqual(sumRegisters(fractions));
  });

  test("of windows has those that end last", () => {
    const windows = (day: number, total: number) => ({
      timeZone: "UTC",
      ...eachWindow(() => ({ until: 30, total })),
      day: { until: day, total },
    });
    const us = { ...at(3, 9), windows: windows(3, 9) };
    const eu = { ...at(2, 5), windows: windows(2, 5) };
    const asia = { ...at(3, 4), windows: windows(3, 4) };
    expect(sumRegisters({ us, eu, asia, sa: at(0, 0) }).globalWindows).toEqual({
      timeZone: "UTC",
      ...eachWindow(() => ({ until: 30, total: 18 })),
      day: { until: 3, total: 13 },
    });
    expect(sumRegisters({ sa: at(0, 0) })).toEqual({ globalTotal: 0, globalWindows: null });
  });
});

function at(asOf: number, total: number): RegionTotal<number> {
  return { asOf, total, windows: null };
}

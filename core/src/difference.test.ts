import fc from "fast-check";
import { expect, test } from "vitest";
import { differenceBeyondRounding } from "./difference.ts";

test("any difference of whole numbers is drift", () => {
  const whole = fc.maxSafeInteger();
  fc.assert(
    fc.property(
      whole,
      whole,
      (expected, found) => differenceBeyondRounding(expected, found, Math.abs(found)) === expected - found,
    ),
  );
  expect(differenceBeyondRounding(9e15, 9e15 - 1, 9e15)).toBe(1);
});

test("the same fractions added in another order are no drift", () => {
  const cents = fc.array(fc.integer({ min: 1, max: 1e9 }), { minLength: 2, maxLength: 1_000 });
  fc.assert(
    fc.property(cents, (amounts) => {
      const sum = (all: number[]) => all.reduce((total, amount) => total + amount / 100, 0);
      const sorted = amounts.toSorted((a, b) => a - b);
      const reversed = sum(sorted.toReversed());
      return (
        differenceBeyondRounding(sum(amounts), sum(sorted), sum(sorted)) === 0 &&
        differenceBeyondRounding(sum(sorted), reversed, reversed) === 0
      );
    }),
  );
});

test("nor is the remainder of fractions that cancel out", () => {
  expect(differenceBeyondRounding(0, 1_000_000.1 - 1_000_000 - 0.1, 2_000_000.2)).toBe(0);
});

test("a cent is drift, up to tens of millions of euros", () => {
  for (const euros of [0.5, 10.1, 1_000.3, 30_000_000.7]) {
    for (const by of [0.01, -0.01]) expect(differenceBeyondRounding(euros + by, euros, euros)).toBeCloseTo(by, 6);
  }
  expect(differenceBeyondRounding(0.1, 0, 0)).toBe(0.1);
  expect(differenceBeyondRounding(0, 0.1, 0.1)).toBe(-0.1);
});

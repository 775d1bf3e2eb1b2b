import fc from "fast-check";
import { expect, test } from "vitest";
import { axisLabels, stepsFor, valueRange } from "./valueAxis.ts";

const ZERO = { fromZero: true, minUpperEnd: 0 };
const TOTAL = { fromZero: false, minUpperEnd: 0 };

test.each([
  [0, 100, ZERO, [0, 110]],
  [90, 100, ZERO, [0, 110]],
  [-100, 100, ZERO, [-120, 120]],
  [-100, -50, ZERO, [-110, 0]],
  [0, 0, ZERO, [0, 1]],
  [0, 1, { fromZero: true, minUpperEnd: 4 }, [0, 4.4]],
  [10, 100, TOTAL, [0, 110]],
  [90, 100, TOTAL, [89, 101]],
  [100, 100, TOTAL, [0, 110]],
  [-7, -3, TOTAL, [-7.7, 0]],
])("from %d to %d with %o the axis is %o", (lowest, highest, axis, range) => {
  const [low, high] = valueRange(lowest, highest, axis);
  expect(low).toBeCloseTo(range[0] as number);
  expect(high).toBeCloseTo(range[1] as number);
});

test("whole values have whole steps", () => {
  expect(Math.min(...stepsFor([3, null, undefined, -2]))).toBe(1);
  expect(stepsFor([0.5])).toContain(0.005);
});

test.each([
  [
    [0, 500, 1_000],
    ["0", "500", "1,000"],
  ],
  [
    [0, 500_000, 1_000_000],
    ["0", "500K", "1M"],
  ],
  [
    [1_200_000, 1_400_000],
    ["1.2M", "1.4M"],
  ],
  [
    [7_000_200, 7_000_400],
    ["7.0002M", "7.0004M"],
  ],
  [
    [7_000_020, 7_000_040],
    ["7,000,020", "7,000,040"],
  ],
  [
    [0, 0.005],
    ["0", "0.005"],
  ],
  [
    [-50_000, 0, 50_000],
    ["-50K", "0", "50K"],
  ],
  [
    [2e14, 4e14],
    ["200T", "400T"],
  ],
])("%o is written as %o", (values, labels) => {
  expect(axisLabels(values)).toEqual(labels);
});

test("two lines never have the same label", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...stepsFor([0.5])),
      fc.integer({ min: -1_000, max: 1_000_000 }),
      fc.integer({ min: 2, max: 8 }),
      (step, first, count) => {
        fc.pre(Math.abs(first * step) < 9e15);
        const labels = axisLabels(Array.from({ length: count }, (_, i) => (first + i) * step));
        expect(new Set(labels).size).toBe(count);
      },
    ),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { exactSum, isCount, sumOfCounts, sumOrZero } from "./sum.ts";

const notCounts = fc.oneof(
  fc.anything().filter((value) => value !== undefined && typeof value !== "number"),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
);

test("a count is a finite number, or absent", () => {
  fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), isCount));
  expect(isCount(undefined)).toBe(true);
  fc.assert(fc.property(notCounts, (value) => !isCount(value)));
});

test("the sum of shards is the sum of their counts; an absent count is 0", () => {
  const counts = fc.array(fc.option(fc.maxSafeInteger(), { nil: undefined }), { maxLength: 50 });
  fc.assert(
    fc.property(counts, (some) => {
      const halves = some.map((count) => count && Math.trunc(count / 64));
      expect(BigInt(sumOfCounts(halves))).toBe(halves.reduce((sum, count) => sum + BigInt(count ?? 0), 0n));
    }),
  );
});

test("a malformed count is left out, and no other count is affected", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.integer(), notCounts)), (counts) => {
      const good = counts.filter((count) => Number.isFinite(count));
      expect(sumOfCounts(counts)).toBe(sumOfCounts(good));
    }),
  );
  expect(sumOfCounts([1, "2", Number.NaN, null, 3])).toBe(4);
});

test("an exact sum is finite, or an error: of one infinite count, of NaN, and of finite counts that overflow", () => {
  const counts = fc.array(fc.oneof(fc.integer(), fc.double(), notCounts), { maxLength: 9 });
  fc.assert(
    fc.property(counts, (some) => {
      const sum = some.reduce((all: number, count) => (typeof count === "number" ? all + count : all), 0);
      if (Number.isFinite(sum)) expect(exactSum("x", some)).toBe(sum);
      else expect(() => exactSum("x", some)).toThrow(expect.objectContaining({ code: "counter/overflow" }));
    }),
  );
});

test("a sum of no number is 0, whichever edition of Firestore answers", () => {
  expect(exactSum("x", [null])).toBe(0);
  expect([null, 0, -2.5, Number.POSITIVE_INFINITY].map(sumOrZero)).toEqual([0, 0, -2.5, Number.POSITIVE_INFINITY]);
});

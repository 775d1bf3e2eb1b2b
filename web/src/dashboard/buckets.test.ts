import fc from "fast-check";
import { expect, test } from "vitest";
import { eachWindow } from "../../../core/src/index.ts";
import { addedUntil, bucketOfFirstPoint, bucketsOf, knownHistory, type Point } from "./buckets.ts";

const point = (at: number, total: number, day = 0): Point => ({
  at: new Date(at),
  total,
  shardCount: 2,
  windows: { ...eachWindow(() => 0), day },
});
const noDay = () => undefined;

test("a bucket adds the difference of two totals, one without a point adds 0, and the future is not known", () => {
  const history = knownHistory([point(5, 100), point(12, 130), point(39, 120)], undefined, noDay);
  const buckets = bucketsOf(history, [10, 20, 30, 40, 50, 60], 45);
  expect(buckets.added).toEqual([30, 0, -10, 0, null]);
  expect(buckets.totals).toEqual([100, 130, 130, 120, 120, null]);
  expect(buckets.shardCounts).toEqual([2, 2, 2, 2, null]);
  expect(buckets.current).toBe(3);
  expect(addedUntil(buckets, 2)).toBe(30);
  expect(addedUntil(buckets, 5)).toBe(null);
  expect(bucketOfFirstPoint(history, buckets)).toBeUndefined();
});

test("a point at a boundary belongs to the bucket that begins there", () => {
  expect(bucketsOf(knownHistory([point(0, 1), point(20, 8)], undefined, noDay), [10, 20, 30], 29).added).toEqual([
    0, 7,
  ]);
});

test("what was before the first point is not known, unless it tells the sum of its day", () => {
  const points = [point(25, 1_217, 217), point(33, 1_220)];
  const boundaries = [0, 10, 20, 30, 40];
  const unknown = knownHistory(points, undefined, noDay);
  expect(bucketsOf(unknown, boundaries, 35).added).toEqual([null, null, null, 3]);
  expect(bucketOfFirstPoint(unknown, bucketsOf(unknown, boundaries, 35))).toBe(2);

  const known = bucketsOf(
    knownHistory(points, undefined, () => 0),
    boundaries,
    35,
  );
  expect(known.added).toEqual([null, null, 217, 3]);
  expect(known.totals).toEqual([1_000, null, null, 1_217, 1_220]);
  // The day began in an earlier bucket than the period's first.
  const later = bucketsOf(
    knownHistory(points, undefined, () => -10),
    boundaries,
    35,
  );
  expect(later.added).toEqual([null, null, null, 3]);
});

test("a total that was received later than the history is the latest; an older one changes nothing", () => {
  const latest = point(31, 9);
  expect(bucketsOf(knownHistory([point(5, 2)], latest, noDay), [10, 20, 30, 40], 32).added).toEqual([0, 0, 7]);
  expect(knownHistory([point(32, 9)], latest, noDay).points).toHaveLength(1);
  expect(knownHistory([], latest, noDay).points).toHaveLength(1);
  expect(knownHistory([point(5, 2)], latest, noDay).hasStoredHistory).toBe(false);
  expect(knownHistory([point(4, 1), point(5, 2)], latest, noDay).hasStoredHistory).toBe(true);
});

test("the buckets of a period add up to its growth, whatever was published", () => {
  const whole = fc.integer({ min: -1_000, max: 1_000_000_000_000_000 });
  const published = fc.array(fc.tuple(fc.integer({ min: 0, max: 99 }), whole), { minLength: 1 });
  fc.assert(
    fc.property(published, fc.integer({ min: 10, max: 99 }), (all, now) => {
      const points = all
        .filter(([at]) => at <= now)
        .sort(([a], [b]) => a - b)
        .map(([at, total]) => point(at, total));
      const buckets = bucketsOf(
        knownHistory(points, undefined, noDay),
        Array.from({ length: 10 }, (_, i) => (i + 1) * 10),
        now,
      );
      const sum = buckets.added.reduce<number>((sum, added) => sum + (added ?? 0), 0);
      const growth = addedUntil(buckets, buckets.current + 1);
      if (growth !== null) expect(sum).toBe(growth);
    }),
  );
});

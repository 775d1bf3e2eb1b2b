import { expect, test } from "vitest";
import { INACTIVE_MS, type Point, upToNow } from "./rate.ts";

const point: Point = { at: 1_000, rate: 5, shardCount: 2, isIdle: false };
const idle = { ...point, isIdle: true };

test("the last rate holds until the next publish", () => {
  const now = point.at + 10 * INACTIVE_MS;
  expect(upToNow([point], now)).toEqual([point, { ...point, at: now }]);
  expect(upToNow([point], point.at)).toEqual([point]);
  expect(upToNow([], now)).toEqual([]);
});

test("that of an idle counter holds for a moment", () => {
  const end = point.at + INACTIVE_MS;
  expect(upToNow([idle], end)).toEqual([idle, { ...idle, at: end }]);
  expect(upToNow([point, idle], end + 1)).toEqual([
    point,
    idle,
    { ...idle, at: end, rate: 0 },
    { ...idle, at: end + 1, rate: 0 },
  ]);
});

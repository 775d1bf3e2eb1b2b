import { expect, test } from "vitest";
import { INACTIVE_MS, type Point, upToNow } from "./rate.ts";

const point: Point = { at: 1_000, rate: 5, shardCount: 2 };
const idle = { ...point, isIdle: true };

test("a rate holds until the next publish", () => {
  const now = point.at + 10 * INACTIVE_MS;
  expect(upToNow([point], now)).toEqual([point, { ...point, at: now }]);
  expect(upToNow([point], point.at)).toEqual([point]);
  expect(upToNow([], now)).toEqual([]);
});

test("the rate of an idle counter falls to 0, and stays there until the next publish", () => {
  const end = idle.at + INACTIVE_MS;
  expect(upToNow([idle], end)).toEqual([idle, { ...idle, at: end }]);
  const next = { ...idle, at: end + 5_000 };
  expect(upToNow([idle, next], next.at)).toEqual([
    idle,
    { ...idle, at: end, rate: 0 },
    { ...idle, at: next.at - 1, rate: 0 },
    next,
  ]);
});

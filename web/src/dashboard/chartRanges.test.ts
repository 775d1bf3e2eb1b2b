import { expect, test } from "vitest";
import { eachWindow } from "../../../core/src/index.ts";
import { chartPoints } from "./chartRanges.ts";

test("the rate between two points of a history is that of the writes between them", () => {
  const point = (seconds: number, writes: number, shardCount: number) => ({
    at: new Date(seconds * 1_000),
    total: writes,
    writes,
    rate: 99,
    shardCount,
    publishes: 1,
    windows: eachWindow(() => 0),
  });
  expect(chartPoints([{ ...point(30, 10, 2), rate: 0 }], 90_000)).toEqual([
    { at: 30_000, rate: 0, shardCount: 2 },
    { at: 90_000, rate: 0, shardCount: 2 },
  ]);
  expect(chartPoints([point(0, 10, 1), point(60, 130, 4)], 90_000)).toEqual([
    { at: 0, rate: 99, shardCount: 1 },
    { at: 1, rate: 2, shardCount: 1 },
    { at: 60_000, rate: 2, shardCount: 4 },
  ]);
});

import { expect, test } from "vitest";
import { dueTimes } from "./loads.ts";

test("increments are due at the offered rate, first before and then during the measurement", () => {
  const load = { before: { perSecond: 1, seconds: 2 }, measured: { perSecond: 4, seconds: 1 } };
  expect(dueTimes(load)).toEqual([0, 1_000, 2_000, 2_250, 2_500, 2_750]);
});

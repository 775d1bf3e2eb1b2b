import { expect, test } from "vitest";
import { arrivals, loads } from "./loads.ts";

test("increments are due at the set rate, first before and then during the measurement", () => {
  const load = {
    name: "any",
    before: { perSecond: 1, seconds: 2 },
    measured: { perSecond: 4, seconds: 1 },
    clients: 1,
    counters: 1,
  };
  expect(arrivals(load)).toEqual([0, 1_000, 2_000, 2_250, 2_500, 2_750]);
});

test("every load is measured as long as asked", () => {
  for (const load of loads(30)) expect(load.measured.seconds).toBe(30);
});

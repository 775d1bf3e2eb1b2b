import fc from "fast-check";
import { expect, test } from "vitest";
import { anyCounter, idle } from "../testing/arbitraries.ts";
import { isPollLost } from "./interval.ts";

test("the poll of a counter is lost if it is a minute late", () => {
  const nextPollAt = idle.asOf + 10_000;
  const polled = { ...idle, phase: "scattered", nextPollAt } as const;
  expect([0, 60_000, 60_001, 1e9].map((late) => isPollLost(polled, nextPollAt + late))).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

test("a counter that is not polled is never overdue, a polled one is some day", () => {
  fc.assert(
    fc.property(anyCounter, (counter) => {
      const { nextPollAt, asOf } = counter;
      expect(isPollLost(counter, Number.MAX_SAFE_INTEGER)).toBe(nextPollAt !== null);
      expect(isPollLost(counter, asOf)).toBe(false);
    }),
  );
});

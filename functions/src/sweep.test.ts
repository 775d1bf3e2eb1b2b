import fc from "fast-check";
import { expect, test } from "vitest";
import { anyCounter, idle } from "../testing/arbitraries.ts";
import { isOverdue } from "./sweep.ts";

test("the poll of a counter is lost if it is a minute late", () => {
  const nextPollAt = idle.asOf + 10_000;
  const polled = { ...idle, phase: "scattered", nextPollAt } as const;
  expect([0, 60_000, 60_001, 1e9].map((late) => isOverdue(polled, nextPollAt + late))).toEqual([
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
      expect(isOverdue(counter, Number.MAX_SAFE_INTEGER)).toBe(nextPollAt !== null);
      expect(isOverdue(counter, asOf)).toBe(false);
    }),
  );
});

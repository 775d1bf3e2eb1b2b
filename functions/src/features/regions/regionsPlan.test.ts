import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { idle } from "../../../testing/arbitraries.ts";
import { measured, T } from "../../../testing/situations.ts";
import { decide } from "../../counter/decide.ts";
import { DEFAULT_CONFIG as defaults } from "../../deploy/defaultConfig.ts";
import { isExchangeLost, isOverdue, missedExchangeAt, nextExchangeAt } from "./regionsPlan.ts";

const config = { exchangeInterval: 1_000 };

describe("the exchange of a publish", () => {
  test("follows the first publish soon, and the next ones an interval apart", () => {
    expect(nextExchangeAt(undefined, 10_000, config)).toBe(10_200);
    expect(nextExchangeAt(10_200, 10_100, config)).toBe(10_200);
    expect(nextExchangeAt(10_200, 10_500, config)).toBe(11_200);
    expect(nextExchangeAt(10_200, 99_000, config)).toBe(99_200);
  });

  test("is later than the instant of the publish, by an interval and 201 ms at most", () => {
    fc.assert(
      fc.property(
        fc.option(fc.nat(), { nil: undefined }),
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        (before, asOf) => {
          const at = nextExchangeAt(before, asOf, config);
          expect(at).toBeGreaterThan(asOf);
          expect(at).toBeLessThanOrEqual(asOf + 1_201);
        },
      ),
    );
  });
});

describe("a publish that its exchange has missed", () => {
  test("was committed at the instant of the exchange, or later", () => {
    expect(missedExchangeAt({ regions: { exchangeAt: 300 }, asOf: 100 }, 299)).toBeUndefined();
    expect(missedExchangeAt({ regions: { exchangeAt: 300 }, asOf: 100 }, 300.5)).toBe(301);
  });

  test("changed the total: others have no exchange", () => {
    expect(missedExchangeAt({ regions: { exchangeAt: 300 }, asOf: 400 }, 500)).toBeUndefined();
    expect(missedExchangeAt({ regions: { exchangeAt: undefined }, asOf: 400 }, 500)).toBeUndefined();
  });
});

describe("an exchange is lost", () => {
  test("if it was due over a minute ago", () => {
    expect([undefined, 40_000, 39_999].map((due) => isOverdue(due, 100_000))).toEqual([false, false, true]);
  });

  test("if a region has an older register with another total, or none", () => {
    const published = { total: 5, asOf: 200 };
    expect(isExchangeLost(published, undefined)).toBe(true);
    expect(isExchangeLost(published, { total: 4, asOf: 100 })).toBe(true);
    // A publish that changed no total has no exchange, and a later register is from before a backup.
    expect(isExchangeLost(published, { total: 5, asOf: 100 })).toBe(false);
    expect(isExchangeLost(published, { total: 9, asOf: 300 })).toBe(false);
    expect(isExchangeLost({ total: 0, asOf: 200 }, undefined)).toBe(false);
  });
});

test("what a reset has cancelled in the total reaches the other regions, since it is in the sums of today", () => {
  const previous = { ...idle, regions: { exchangeAt: T - 60_000 } };
  const config = { ...defaults, regions: { own: "us", others: [], exchangeInterval: 1_000 } };
  const exchangesAfter = (adjusted: number) => {
    const measurement = measured(idle, T + 60_000, { total: idle.total, writes: idle.writes + 2 });
    const known = { previous, adjusted, measurement };
    const step = decide({ at: T + 60_000, isPoll: false }, known, T + 60_000, 0, config);
    return step.do === "publish" && step.tasks.some(({ kind }) => kind === "exchange");
  };
  expect([exchangesAfter(-5), exchangesAfter(0)]).toEqual([true, false]);
});

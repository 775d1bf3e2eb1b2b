import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { percentilesOf, recoveryTime, timelineOf, visibilityDelays } from "./statistics.ts";

describe("percentiles", () => {
  test("are the smallest value that a share of the samples does not exceed", () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
        const { p50, p95, p99 } = percentilesOf(values);
        for (const [share, value] of [[0.5, p50] as const, [0.95, p95] as const, [0.99, p99] as const]) {
          expect(values).toContain(value);
          expect(values.filter((one) => one <= value).length).toBeGreaterThanOrEqual(share * values.length);
          expect(values.filter((one) => one < value).length).toBeLessThan(share * values.length);
        }
      }),
    );
  });

  test("count what did not happen as longest", () => {
    const values = [...Array(96).fill(1), ...Array(4).fill(Number.POSITIVE_INFINITY)];
    expect(percentilesOf(values)).toEqual({ p50: 1, p95: 1, p99: Number.POSITIVE_INFINITY });
  });
});

describe("the delay of the n-th instant", () => {
  test("is what a search through all observations finds", () => {
    const rising = fc
      .array(fc.nat(20))
      .map((steps) => steps.map((_, n) => steps.slice(0, n + 1).reduce((a, b) => a + b)));
    fc.assert(
      fc.property(rising, rising, fc.nat(5), (instants, totals, from) => {
        const sights = totals.map((total, n) => ({ at: n * 7, total }));
        const searched = instants.map((instant, n) => {
          const at = sights.find(({ total }) => total >= n + 1)?.at ?? Number.POSITIVE_INFINITY;
          return Math.max(at - instant, 0);
        });
        expect(visibilityDelays(instants, sights, from)).toEqual(searched.slice(from));
      }),
    );
  });
});

describe("the recovery time after a step", () => {
  /** Ten increments per second for ten seconds. */
  const samples = (took: (intended: number) => number) =>
    Array.from({ length: 100 }, (_, n) => ({ intended: n * 100, acknowledged: n * 100 + took(n * 100) }));

  test.each<[name: string, took: (intended: number) => number, recovery: number]>([
    ["is zero if all increments were acknowledged in time", () => 900, 0],
    ["ends with the last slow window", (at) => (at < 3_000 ? 5_000 : 10), 3_900],
    [
      "is infinite if the last window is slow",
      (at) => (at > 9_000 ? Number.POSITIVE_INFINITY : 10),
      Number.POSITIVE_INFINITY,
    ],
  ])("%s", (_, took, recovery) => {
    expect(recoveryTime(samples(took), 0, 1_000)).toBe(recovery);
  });
});

test("a timeline counts an increment in the second in which it was due, and its acknowledgement in its own", () => {
  const samples = [
    { intended: 9_500, acknowledged: 9_900 },
    { intended: 10_000, acknowledged: 12_999 },
    { intended: 10_999, acknowledged: 12_000 },
    { intended: 10_500, acknowledged: Number.POSITIVE_INFINITY },
  ];
  expect(timelineOf(samples, 10_000)).toEqual([
    { at: -1, offered: 1, acknowledged: 1 },
    { at: 0, offered: 3, acknowledged: 0 },
    { at: 1, offered: 0, acknowledged: 0 },
    { at: 2, offered: 0, acknowledged: 2 },
  ]);
});

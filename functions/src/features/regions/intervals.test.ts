import fc from "fast-check";
import { expect, test } from "vitest";
import { COUNTING_DEFAULTS, DEFAULT_SETTINGS, parseConfig } from "../../deploy/parameters.ts";
import { intervalsOf } from "./intervals.ts";

const seconds = fc.integer({ min: 1, max: 3_000 }).map((value) => 1_000 * value);
const settings = fc.tuple(seconds, seconds, seconds).map(([one, other, exchangeInterval]) => ({
  minInterval: Math.min(one, other),
  maxInterval: Math.max(one, other),
  exchangeInterval,
}));

test("a counter's document gets one write a second at most, by its own publishes and the exchanges of all others", () => {
  fc.assert(
    fc.property(settings, fc.integer({ min: 2, max: 40 }), (given, regions) => {
      const { minInterval, maxInterval, exchangeInterval } = intervalsOf(given, regions);
      expect(1_000 / minInterval + ((regions - 1) * 1_000) / exchangeInterval).toBeLessThanOrEqual(1 + 1e-9);
      expect(maxInterval).toBeGreaterThanOrEqual(minInterval);
    }),
  );
});

test("longer intervals, and those of one region alone, stay as they are", () => {
  fc.assert(fc.property(settings, (given) => intervalsOf(given, 1) === given));
  const long = { minInterval: 5_000, maxInterval: 20_000, exchangeInterval: 60_000 };
  expect(intervalsOf(long, 5)).toEqual(long);
});

test.each([
  ["", 1_000, 1_000],
  ["us=(default)", 1_000, 1_000],
  ["us=(default), eu=b", 2_000, 2_000],
  ["us=(default), eu=b, asia=c", 2_000, 4_000],
  ["us=(default), eu=b, asia=c, sa=d, au=e", 2_000, 8_000],
])(
  "with the defaults, REGIONS %j is published every %d ms and exchanged every %d ms at most",
  (list, publish, exchange) => {
    const { minInterval, maxInterval, regions } = parseConfig({ ...COUNTING_DEFAULTS, REGIONS: list });
    expect([minInterval, regions?.exchangeInterval ?? 1_000, maxInterval]).toEqual([
      publish,
      exchange,
      DEFAULT_SETTINGS.maxInterval,
    ]);
  },
);

import { expect, test } from "vitest";
import { formatDuration, formatNumber, formatSigned, pluralize } from "./format.ts";

test.each([
  [-5, "0.0 s"],
  [400, "0.4 s"],
  [37_400, "37 s"],
  [119_000, "119 s"],
  [120_000, "2 minutes"],
  [3 * 3_600_000, "3 hours"],
  [50 * 3_600_000, "2 days"],
])("%i ms are %s", (millis, text) => {
  expect(formatDuration(millis)).toBe(text);
});

test("numbers are grouped, short, and agree with their noun", () => {
  expect([formatNumber(1234.567), formatSigned(3), formatSigned(-3), formatSigned(0)]).toEqual([
    "1,234.57",
    "+3",
    "-3",
    "0",
  ]);
  const counted = [1, 1_000, 0.5].map((number) => pluralize(number, "counter"));
  expect(counted).toEqual(["1 counter", "1,000 counters", "0.5 counters"]);
});

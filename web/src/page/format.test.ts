import { expect, test } from "vitest";
import { formatAge, formatDollars, formatRate, formatTotal } from "./format.ts";

test.each([
  [formatRate, 0, "0"],
  [formatRate, 0.02, "0"],
  [formatRate, 0.05, "0.1"],
  [formatRate, 9.94, "9.9"],
  [formatRate, 9.96, "10"],
  [formatRate, 1_234.5, "1,235"],
  [formatTotal, 1_234_567, "1,234,567"],
  [formatTotal, -0.125, "-0.13"],
  [formatAge, -50, "0 s"],
  [formatAge, 59_400, "59 s"],
  [formatAge, 119_000, "1 min"],
  [formatAge, 7_200_000, "2 h"],
  [formatAge, 172_800_000, "2 days"],
  [formatDollars, 0, "$0"],
  [formatDollars, 12.345, "$12.35"],
  [formatDollars, 0.5, "$0.50"],
  [formatDollars, 0.0123, "$0.012"],
  [formatDollars, 0.00123, "$0.0012"],
  [formatDollars, 0.0001, "$0.00010"],
  [formatDollars, 0.00009, "< $0.0001"],
] as const)("%o of %d is %s", (format, n, text) => {
  expect(format(n)).toBe(text);
});

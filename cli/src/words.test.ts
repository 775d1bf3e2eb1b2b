import { expect, test } from "vitest";
import { duration, inWords, several, signed } from "./words.ts";

test.each([
  [-5, "0.0 s"],
  [400, "0.4 s"],
  [37_400, "37 s"],
  [119_000, "119 s"],
  [120_000, "2 minutes"],
  [3 * 3_600_000, "3 hours"],
  [50 * 3_600_000, "2 days"],
])("%i ms are %s", (millis, words) => {
  expect(duration(millis)).toBe(words);
});

test("numbers are grouped, short, and agree with their noun", () => {
  expect([inWords(1234.567), signed(3), signed(-3), signed(0)]).toEqual(["1,234.57", "+3", "-3", "0"]);
  expect([several(1, "counter"), several(1_000, "counter")]).toEqual(["1 counter", "1,000 counters"]);
});

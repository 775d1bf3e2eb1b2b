import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import { validSchedule } from "../../core/src/index.ts";
import { parseAddress, parseCount, parseInterval, parseNumber, parseShare } from "./optionValues.ts";

test("option values are accepted as people write them", () => {
  expect(["1,000", "1_000_000", "-0.5"].map(parseNumber)).toEqual([1_000, 1_000_000, -0.5]);
  expect(parseCount("3")).toBe(3);
  expect(["30%", "0.3"].map(parseShare)).toEqual([0.3, 0.3]);
  expect(["15m", "1.5h"].map(parseInterval)).toEqual([900_000, 5_400_000]);
  expect(["localhost:8080", "[::1]:8080"].map(parseAddress)).toEqual(["localhost:8080", "[::1]:8080"]);
});

test.each<[(text: string) => unknown, string[]]>([
  [parseNumber, ["", " ", "x", "Infinity", "1e999"]],
  [parseCount, ["0", "1.5", "-1"]],
  [parseShare, ["1.5", "130%", "-1%", "%"]],
  [parseInterval, ["15", "m", "-1h", "1w", "1m", "299s", "366.1d"]],
  [parseAddress, ["localhost", "likes:post42", "localhost:", ":8080", "http://localhost:8080"]],
])("%o rejects anything else", (parse, texts) => {
  for (const text of texts) expect(() => parse(text), text).toThrow(InvalidArgumentError);
});

test("an interval is accepted if it can be stored with a source, and the error names the range", () => {
  for (const text of ["5m", "366d"]) {
    expect(validSchedule(parseInterval(text) / 1_000, 0).everySeconds).toBe(parseInterval(text) / 1_000);
  }
  for (const seconds of [299, 366.1 * 86_400]) expect(() => validSchedule(seconds, 0)).toThrow("every");
  expect(() => parseInterval("1m")).toThrow("5m to 366d");
});

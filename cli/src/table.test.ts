import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { table } from "./table.ts";

const LONG = `likes:${"計".repeat(498)}42`;
const ROWS = [
  [1, LONG, "123,456,789", "1.7 s ago"],
  [2, "likes:a", "41", "now"],
];
const HEAD = ["", "counter", "total", "as of"];

describe("a table", () => {
  test.each([40, 60, 80, 120])("is at most as wide as a terminal of %i columns, and cuts no number", (width) => {
    const lines = table(ROWS, ["right", "id", "right", "right"], HEAD, width).split("\n");
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
    expect(lines[1]).toMatch(/^1 {2}likes:.*….*42 +123,456,789 {2}1\.7 s ago$/);
  });

  test("has its own width if that is smaller", () => {
    expect(table([["likes:a", 5]], ["id", "right"], ["counter", "n"], 80)).toBe("counter  n\nlikes:a  5");
  });

  test("wraps text between words, and clamps a longer word", () => {
    const rows = [["phase", "scattered", "next measurement in 9.5 s, calm for 2 minutes"]];
    expect(table(rows, ["left", "right", "left"], undefined, 44)).toBe(
      "phase  scattered  next measurement in 9.5 s,\n                  calm for 2 minutes",
    );
    const path = `posts/${"x".repeat(90)}/comments`;
    const [line = ""] = table([["counts", path]], ["left", "left"], undefined, 40).split("\n");
    expect(line).toMatch(/^counts {2}posts\/x+…x+\/comments$/);
    expect(line).toHaveLength(40);
  });
});

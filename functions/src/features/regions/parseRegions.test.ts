import { describe, expect, test } from "vitest";
import { parseRegions } from "./parseRegions.ts";

describe("REGIONS", () => {
  test("names databases; the one of DATABASE_ID is the functions' own", () => {
    expect(parseRegions("us=(default), eu=tally-eu, asia=tally-asia", "tally-eu")).toEqual({
      own: "eu",
      others: [
        { name: "us", project: undefined, database: "(default)" },
        { name: "asia", project: undefined, database: "tally-asia" },
      ],
    });
    // A region that is left of several.
    expect(parseRegions("us=(default)", "(default)")).toEqual({ own: "us", others: [] });
    expect(parseRegions(" ", "(default)")).toBeUndefined();
  });

  test("of several projects is the same list in each", () => {
    const list = "us=one/(default), eu=two/(default)";
    expect(parseRegions(list, "(default)", "one")).toMatchObject({ own: "us", others: [{ project: "two" }] });
    expect(parseRegions(list, "(default)", "two")).toMatchObject({ own: "eu", others: [{ project: "one" }] });
  });

  test.each([
    ["us", "no database"],
    ["us=a, us=b", "two with the same name"],
    ["us=a, eu=a", "two with the same database"],
    ["US=a, eu=b", "a capital letter"],
    ["us=x/y/z, eu=b", "a path"],
    ["eu=b, asia=c", "none with DATABASE_ID"],
    ["us=other/a, eu=other/b", "DATABASE_ID in another project"],
    ["us=a, eu=other/b", "only some with a project"],
  ])("refuses %s: %s", (list) => {
    expect(() => parseRegions(list, "a")).toThrow(expect.objectContaining({ code: "counter/invalid-config" }));
  });
});

import { describe, expect, test } from "vitest";
import { etagOf, maxAgeSeconds, namesTag, totalsJson } from "./answer.ts";

describe("a cache may keep totals", () => {
  const seconds = (...dueIn: (number | undefined)[]) => {
    const readings = dueIn.map((due) => (due === undefined ? due : { total: 1, asOf: 0, nextDue: 50_000 + due }));
    return maxAgeSeconds(readings, 50_000, 10_000);
  };

  test("until the first of them can change", () => {
    expect([seconds(9_999), seconds(7_000, 3_500), seconds(2_000)]).toEqual([9, 3, 2]);
  });

  test("for a second if one is overdue, due soon, or was never published", () => {
    expect([seconds(0), seconds(-1e12), seconds(1_999), seconds(undefined), seconds(9_000, undefined)]).toEqual([
      1, 1, 1, 1, 1,
    ]);
  });

  test("for the longest interval at most, whatever the clock says", () => {
    expect([seconds(3_600_000), maxAgeSeconds([{ total: 1, asOf: 0, nextDue: 1e15 }], 0, 2_500)]).toEqual([10, 2]);
  });
});

test("the JSON has the ids in the order asked for, also numbers, and nothing but total and time", () => {
  const reading = { total: -1.5, asOf: 1_767_225_600_000, nextDue: 7 };
  expect(totalsJson(["b", "7", 'a"\u2028'], [reading, undefined, { ...reading, total: 0 }])).toBe(
    '{"totals":{"b":{"total":-1.5,"asOf":1767225600000},"7":null,"a\\"\u2028":{"total":0,"asOf":1767225600000}}}',
  );
});

test("a tag is recognized in a list, as a weak one, and by a star", () => {
  const etag = etagOf("{}");
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  expect(etagOf("{ }")).not.toBe(etag);
  for (const header of [etag, `W/${etag}`, `"other", ${etag}`, `"a,b",W/${etag} `, "*"]) {
    expect(namesTag(header, etag), header).toBe(true);
  }
  for (const header of [undefined, "", '"other"', etag.slice(1, -1), `w/${etag}`]) {
    expect(namesTag(header, etag), header).toBe(false);
  }
});

import { expect, test } from "vitest";
import { isEmptyList, isListed, parseCounterList } from "./counterList.ts";

test("a list names counters, and groups", () => {
  const list = parseCounterList(" signups , views:*,votes:final,", "INGEST_COUNTERS");
  const listed = ["signups", "views:home", "views:", "views:a:b", "votes:final"];
  for (const id of listed) expect(isListed(list, id), id).toBe(true);
  for (const id of ["views", "votes:other", "signups:1", "viewsx:1", ""]) expect(isListed(list, id), id).toBe(false);
});

test("a list without items names nothing", () => {
  expect([" , ", "", "a", "a:*"].map((list) => isEmptyList(parseCounterList(list, "any")))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test.each(["*", "views*", "views:*:a", "a/b", "__a__"])("the item %s is refused, and the parameter named", (item) => {
  expect(() => parseCounterList(`signups, ${item}`, "TOTALS_COUNTERS")).toThrow(
    /^counter\/invalid-config: TOTALS_COUNTERS is .*; set it to /,
  );
});

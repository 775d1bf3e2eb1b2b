import { expect, test } from "vitest";
import { admissionOf, groupsOfList, isEmptyList, isListed, parseCounterList } from "./counterList.ts";

test("a list names counters, and groups", () => {
  const list = parseCounterList(" signups , views:*,votes:final,", "INGEST_COUNTERS");
  const listed = ["signups", "views:home", "views:", "views:a:b", "votes:final"];
  for (const id of listed) expect(isListed(list, id), id).toBe(true);
  for (const id of ["views", "votes:other", "signups:1", "viewsx:1", ""]) expect(isListed(list, id), id).toBe(false);
});

test("an expression admits ids that match as a whole; a group admits those that exist", () => {
  const list = parseCounterList("a, /views:[a-z]{1,3}/ ,/a:1|b:2,3/, views:*", "INGEST_COUNTERS");
  const admitted = ["a", "views:abc", "views:abcd", "a:1", "b:2,3", "xa:1", "a:1x", "b:2"].map((id) =>
    admissionOf(list, id),
  );
  expect(admitted).toEqual(["id", "pattern", "group", "pattern", "pattern", undefined, undefined, undefined]);
});

test.each<[list: string, groups: readonly string[] | "all"]>([
  ["signups, views:*, votes:final", ["", "votes", "views"]],
  ["/views:(a|b(c|d))[|]\\|/", ["views"]],
  ["/views:a|votes:b/", "all"],
  ["/.*/", "all"],
])("the counters of %s are in the groups %j", (list, groups) => {
  expect(groupsOfList(parseCounterList(list, "TOTALS_COUNTERS"))).toEqual(groups);
});

test("a list without items names nothing", () => {
  expect([" , ", "", "a", "a:*"].map((list) => isEmptyList(parseCounterList(list, "any")))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test.each(["*", "views*", "views:*:a", "a/b", "__a__", "//", "/", "/a", "/(/", "/a)(b/", "/a/b/"])(
  "the item %s is refused, and the parameter named",
  (item) => {
    expect(() => parseCounterList(`signups, ${item}`, "TOTALS_COUNTERS")).toThrow(
      /^counter\/invalid-config: TOTALS_COUNTERS is .*; set it to /,
    );
  },
);

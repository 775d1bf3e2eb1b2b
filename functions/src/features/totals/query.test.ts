import fc from "fast-check";
import { expect, test } from "vitest";
import { isDocumentId } from "../../../../core/src/index.ts";
import { parseCounterList } from "../../shared/counterList.ts";
import { parseQuery } from "./query.ts";

const listed = parseCounterList("signups, views:*", "TOTALS_COUNTERS");
const parse = (query: string) => parseQuery(`/tally-totals${query}`, listed);

test("any ids without commas, encoded each or as a list, come out as they were, in their order", () => {
  const id = fc.string({ unit: "binary", maxLength: 30 }).map((rest) => `views:${rest.replaceAll(",", "")}`);
  const ids = fc.uniqueArray(id.filter(isDocumentId), { minLength: 1, maxLength: 100 });
  fc.assert(
    fc.property(ids, (asked) => {
      expect(parse(`?ids=${asked.map(encodeURIComponent)}`)).toEqual(asked);
      expect(parse(`?ids=${encodeURIComponent(asked.join())}`)).toEqual(asked);
    }),
  );
});

test("a colon may stay as it is", () => {
  expect(parse("?ids=views:home,signups,views%3A%C3%A9")).toEqual(["views:home", "signups", "views:é"]);
});

test.each<[query: string, status: number]>([
  ["", 400],
  ["?ids", 400],
  ["?ids=", 400],
  ["?ids=signups,", 400],
  ["?ids=signups&x=1", 400],
  ["?x=1&ids=signups", 400],
  ["?ids=signups&ids=signups", 400],
  ["?%69ds=signups", 400],
  ["?ids=signups=", 400],
  ["?ids=signups,signups", 400],
  ["?ids=signups,%73ignups", 400],
  ["?ids=views:a+b", 400],
  ["?ids=views:%", 400],
  ["?ids=views:%ff", 400],
  ["?ids=views:a/b", 400],
  ["?ids=views:a%2Fshards%2F0", 400],
  ["?ids=..", 400],
  ["?ids=__proto__", 400],
  [`?ids=views:${"x".repeat(1_500)}`, 400],
  [`?ids=${Array.from({ length: 101 }, (_, n) => `views:${n}`)}`, 400],
  [`?ids=${"a,".repeat(10_000)}`, 400],
  ["?ids=views", 403],
  ["?ids=viewsx:1", 403],
  ["?ids=signups,secret", 403],
  ["?ids=constructor", 403],
  ["?ids=views:a%2csignups,other", 403],
])("%s is refused with %i", (query, status) => {
  expect(() => parse(query)).toThrow(expect.objectContaining({ status }));
});

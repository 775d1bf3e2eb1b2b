import { describe, expect, test } from "vitest";
import { counterAddress, dashboardAddress, routeOf } from "../page/route.ts";
import { listingOf } from "./listing.ts";
import { pointsOf } from "./ranges.ts";
import { lineOf, remember, SPARK_MS, type Sparks } from "./sparks.ts";

describe("what is looked for", () => {
  test.each([
    ["", "rate", { order: "rate" }],
    ["  ", "id", { order: "id" }],
    ["likes:", "rate", { group: "likes", order: "rate" }],
    ["likes:po", "rate", { prefix: "likes:po", order: "id" }],
    ["a:b:", "total", { prefix: "a:b:", order: "id" }],
    [":", "total", { prefix: ":", order: "id" }],
  ] as const)("%j by %s is %j", (search, order, listing) => {
    expect(listingOf({ search, order })).toEqual(listing);
  });
});

test.each(["likes:post42", "a b", "50%", "ü#?&", "#dashboard"])("the counter %j has an address", (id) => {
  expect(routeOf(counterAddress(id))).toEqual({ view: "counter", id });
});

test.each([
  ["", "demo"],
  ["#/", "demo"],
  ["#/elsewhere", "demo"],
  ["#/dashboard", "dashboard"],
  ["#/dashboard/", "dashboard"],
  ["#/dashboard?find=a%3A", "dashboard"],
  ["#/dashboard/%E0%A4%A", "dashboard"],
  ["#/dashboard/a/b", "dashboard"],
  ["#/dashboard/a%2Fb", "dashboard"],
  ["#/dashboard/..", "dashboard"],
  ["#/dashboard/__a__", "dashboard"],
])("the address %j is the view %s", (hash, view) => {
  expect(routeOf(hash).view).toBe(view);
});

test.each([
  { search: "", order: "total" },
  { search: "likes:", order: "rate" },
  { search: "a&b=?#/ü%", order: "id" },
] as const)("the dashboard has an address that asks for %j", (question) => {
  expect(routeOf(dashboardAddress(question))).toEqual({ view: "dashboard", ...question });
});

test("an order that there is none of is as none", () => {
  expect(routeOf("#/dashboard?order=size")).toEqual({ view: "dashboard", search: "", order: "total" });
});

test("a line keeps a minute, one point for each publish, and ends now", () => {
  const sparks: Sparks = new Map();
  for (let at = 0; at <= 2 * SPARK_MS; at += 20_000) {
    remember(sparks, "a", { at, rate: 5 });
    remember(sparks, "a", { at, rate: 9 });
  }
  const known = sparks.get("a") ?? [];
  expect(known.map(({ at }) => at)).toEqual([80_000, 100_000, 120_000]);
  expect(lineOf(known, 140_000)).toBe("0.0,1.0 33.3,1.0 66.7,1.0 100.0,1.0");
  expect(lineOf([], 0)).toBe("");
  expect(lineOf([{ at: 0, rate: 0 }], 0)).toBe("");
});

test("the rate between two points of a history is of the writes between them", () => {
  const point = (seconds: number, writes: number, shardCount: number) => ({
    at: new Date(seconds * 1_000),
    total: writes,
    writes,
    rate: 99,
    shardCount,
    publishes: 1,
  });
  expect(pointsOf([point(0, 10, 1), point(60, 130, 4)])).toEqual([
    { at: 0, rate: 99, shardCount: 1 },
    { at: 1, rate: 2, shardCount: 1 },
    { at: 60_000, rate: 2, shardCount: 4 },
  ]);
});

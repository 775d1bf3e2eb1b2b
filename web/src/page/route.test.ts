import { expect, test } from "vitest";
import { counterAddress, dashboardAddress, routeOf } from "./route.ts";

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
  { search: "likes:", order: "week" },
  { search: "a&b=?#/ü%", order: "id" },
] as const)("the dashboard has an address for the query %j", (query) => {
  expect(routeOf(dashboardAddress(query))).toEqual({ view: "dashboard", ...query });
});

test("an unknown order is ignored", () => {
  expect(routeOf("#/dashboard?order=size")).toEqual({ view: "dashboard", search: "", order: "total" });
});

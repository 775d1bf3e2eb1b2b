import { expect, test } from "vitest";
import { counterAddress, dashboardAddress, routeOf } from "./route.ts";

test.each(["likes:post42", "a b", "50%", "ü#?&", "#dashboard"])("the counter %j has an address", (id) => {
  expect(routeOf(counterAddress(id))).toEqual({ view: "counter", id, range: "live" });
  expect(routeOf(counterAddress(id, "today"))).toEqual({ view: "counter", id, range: "today" });
});

test.each([
  ["", "demo"],
  ["#/", "demo"],
  ["#", "demo"],
  ["#/elsewhere", "unknown"],
  ["#elsewhere", "unknown"],
  ["#/dashboards", "unknown"],
  ["#/dashboard", "dashboard"],
  ["#/dashboard/", "dashboard"],
  ["#/dashboard?find=a%3A", "dashboard"],
  ["#/dashboard/%E0%A4%A", "unknown"],
  ["#/dashboard/a/b", "unknown"],
  ["#/dashboard/a%2Fb", "unknown"],
  ["#/dashboard/..", "unknown"],
  ["#/dashboard/__a__", "unknown"],
])("the address %j is the view %s", (hash, view) => {
  expect(routeOf(hash).view).toBe(view);
});

test.each([
  { search: "", order: "total", after: "" },
  { search: "likes:", order: "rate", after: "likes:a&b=?#ü%" },
  { search: "likes:", order: "week", after: "" },
  { search: "a&b=?#/ü%", order: "id", after: "" },
] as const)("the dashboard has an address for the query %j", (query) => {
  expect(routeOf(dashboardAddress(query))).toEqual({ view: "dashboard", ...query });
});

test("an unknown order and an impossible id are ignored", () => {
  const first = { view: "dashboard", search: "", order: "total", after: "" };
  expect(routeOf("#/dashboard?order=size&after=a/b")).toEqual(first);
});

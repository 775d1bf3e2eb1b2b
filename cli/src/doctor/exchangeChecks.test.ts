import { expect, test } from "vitest";
import { deployed, healthyFacts } from "../../testing/healthyFacts.ts";
import { checkExchange } from "./exchangeChecks.ts";
import type { DeployedFunction, Exchange } from "./facts.ts";

const REGIONS = "us=(default), eu=tally-eu";

/** The functions of a region. */
function region(name: string, database: string, list: string): DeployedFunction[] {
  return deployed().map((one) => ({
    ...one,
    name: one.name.replace("tally", name),
    variables: { ...one.variables, DATABASE_ID: database, REGIONS: list },
    trigger: one.trigger && { ...one.trigger, database },
  }));
}

const us = region("us", "(default)", REGIONS);
const check = (functions: DeployedFunction[], exchanges: Exchange[] = []) =>
  checkExchange(healthyFacts({ functions: { value: functions }, regions: { value: exchanges } }));

test("finds nothing without regions, and nothing between regions that have the same list in any order", () => {
  expect(check(deployed())).toEqual([]);
  expect(check([...us, ...region("eu", "tally-eu", "eu=tally-eu, us=(default)")])).toEqual([]);
});

test("finds a region without functions, but not in another project", () => {
  expect(check(us)).toMatchObject([{ id: "region-without-functions", severity: "error" }]);
  expect(check(region("us", "(default)", "us=demo/(default), eu=other/(default)"))).toEqual([]);
});

test.each([
  ["no list", ""],
  ["one region less", "eu=tally-eu"],
  ["another name", "us=(default), europe=tally-eu"],
  ["another database of a region", "us=tally-us, eu=tally-eu"],
])("finds a region with %s", (_, list) => {
  expect(check([...us, ...region("eu", "tally-eu", list)])).toMatchObject([
    { id: "regions-differ", problem: expect.stringMatching(/^REGIONS of eu is not that of us/) },
  ]);
});

test("finds regions whose days end by different time zones", () => {
  const eu = region("eu", "tally-eu", REGIONS).map((one) => ({
    ...one,
    variables: { ...one.variables, TIME_ZONE: "Europe/Berlin" },
  }));
  expect(check([...us, ...eu])).toMatchObject([
    { id: "time-zones-differ", problem: expect.stringMatching(/^days end by Europe\/Berlin in eu and by UTC in us/) },
  ]);
});

test("finds exchanges that were not made, once for each pair of regions, and regions that have lost increments", () => {
  const exchange = (id: string, from: string, to: string, trouble: Exchange["trouble"]) => ({ id, from, to, trouble });
  const exchanges = [
    exchange("a", "us", "eu", "behind"),
    exchange("b", "us", "eu", "behind"),
    exchange("a", "eu", "us", null),
    exchange("b", "eu", "us", "lost"),
  ];
  expect(check([...us, ...region("eu", "tally-eu", REGIONS)], exchanges)).toMatchObject([
    { id: "region-behind", problem: expect.stringMatching(/^eu does not have what us has counted for a and b/) },
    { id: "region-restored", remedy: expect.stringContaining("docs/operations.md") },
  ]);
});

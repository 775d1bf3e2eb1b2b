/** The bill of a site, by hand. */
import { expect, test } from "vitest";
import { billOf } from "./bill.ts";
import { amountOf, monthlyCosts } from "./monthlyCosts.ts";
import { PRICES } from "./prices.ts";
import { compareSite, type Site, siteTraffic, zipfTraffic } from "./site.ts";

const site: Site = { pages: 500, views: 1_000_000, likes: 20_000 };
const { nam5 } = PRICES;
/** Of others that are open when a page counts. */
const OTHERS = (1_000_000 / 500 / 2_592_000) * 60;
const FREE = 30 * (50_000 * 0.6e-6 + 20_000 * 1.8e-6);

test("Tally writes each view and each like once, and an entry; reads two numbers at the start, and each new number on each open page", () => {
  const costs = monthlyCosts(siteTraffic(site), nam5);
  expect(amountOf(costs, "directIncrements")).toBeCloseTo(1_020_000, 0);
  expect(amountOf(costs, "entries")).toBeCloseTo(20_000, 6);
  expect(amountOf(costs, "lookups")).toBeCloseTo(40_000, 6);
  expect(amountOf(costs, "readers")).toBeCloseTo(2_000_000, 6);
  expect(amountOf(costs, "watchers")).toBeCloseTo(1_020_000 * (1 + OTHERS), 0);
  expect(amountOf(costs, "sweeps")).toBe(2 * 8_640);
  const reads = 2_000_000 + 40_000 + 1_020_000 * (1 + OTHERS) + 2 * 8_640;
  // 8,640 invocations, and their 100 ms, are free.
  expect(billOf(costs, nam5).dollars).toBeCloseTo(1_040_000 * 1.8e-6 + reads * 0.6e-6 - FREE, 4);
});

test("the others do the same, each in its own way", () => {
  const [tally, one, counted, recipe, redis] = compareSite(site, nam5);
  const live = 1_020_000 * (1 + OTHERS);
  expect(one?.dollars).toBeCloseTo(1_040_000 * 1.8e-6 + (1_000_000 + 40_000 + live) * 0.6e-6 - FREE, 6);
  // The 40 likes of a page are one read for each view, and are not live.
  const countedReads = 2_000_000 + 1_000_000 * (1 + OTHERS);
  expect(counted?.dollars).toBeCloseTo(1_020_000 * 1.8e-6 + countedReads * 0.6e-6 - FREE, 6);
  expect(recipe?.dollars).toBeCloseTo(1_040_000 * 1.8e-6 + (10_000_000 + 40_000 + live) * 0.6e-6 - FREE, 6);
  // A call for each view and like, and for those of others: all free.
  expect(redis?.dollars).toBeCloseTo(0.049 * 720, 6);
  expect([tally, one, counted, recipe, redis].map((design) => design?.maxPerSecond)).toEqual([
    ...[undefined, 1, 1, 10, undefined],
  ]);
});

test("unequal pages have the same views and likes, and more watchers of the popular ones", () => {
  const [equal, zipf] = [siteTraffic(site), zipfTraffic(site)].map((all) => monthlyCosts(all, nam5));
  if (!equal || !zipf) throw new Error("no costs");
  expect(zipf.increments).toBeCloseTo(equal.increments, 0);
  expect(amountOf(zipf, "sweeps")).toBe(amountOf(equal, "sweeps"));
  expect(amountOf(zipf, "watchers")).toBeGreaterThan(1.5 * amountOf(equal, "watchers"));
});

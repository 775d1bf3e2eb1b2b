import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyTraffic } from "../testing/arbitraries.ts";
import { ALTERNATIVE_PRICES, compareDesigns, type DesignCosts } from "./alternatives.ts";
import { billOf } from "./bill.ts";
import { amountOf, monthlyCosts } from "./monthlyCosts.ts";
import { PRICES } from "./prices.ts";
import { MONTH_SECONDS, type Traffic } from "./traffic.ts";

const INSTANCE_HOUR = 3_600 * (ALTERNATIVE_PRICES.cpuSecond + 0.5 * ALTERNATIVE_PRICES.gibSecond);

const some: Traffic = {
  perSecond: 5,
  peakPerSecond: 50,
  peakHours: 1,
  counters: 1,
  once: 0,
  watchers: 0,
  readsPerDay: 0,
  perClient: 0,
};

const compare = (...workloads: Traffic[]) => compareDesigns(workloads, PRICES.nam5);
const part = ({ items }: DesignCosts, name: string) => items.find((item) => item.name === name)?.dollars ?? Number.NaN;

test("every design costs the sum of its items, never less than nothing, and the free quota alone is negative", () => {
  fc.assert(
    fc.property(anyTraffic, (traffic) => {
      for (const { name, items, dollars } of compare(traffic)) {
        for (const item of items) {
          const sign = item.name === "free quota" ? -1 : 1;
          expect(sign * item.dollars, `${name}: ${item.name}`).toBeGreaterThanOrEqual(0);
        }
        const sum = items.reduce((all, item) => all + item.dollars, 0);
        expect(dollars, name).toBeCloseTo(sum, 6);
        expect(dollars, name).toBeGreaterThan(-1e-6);
        expect(Number.isFinite(dollars), name).toBe(true);
      }
    }),
  );
});

describe("Tally", () => {
  test("costs its bill", () => {
    const [tally] = compare(some);
    const costs = monthlyCosts(some, PRICES.nam5);
    expect(part(tally, "Firestore, invocations, tasks")).toBe(costs.dollars);
    expect(part(tally, "CPU and memory")).toBeGreaterThan(0);
    expect(tally.dollars).toBeCloseTo(billOf(costs, PRICES.nam5).dollars, 9);
    expect(tally.maxPerSecond).toBeUndefined();
  });

  test("has one sweep, however many kinds of counters there are", () => {
    const halves = [some, some].map((half) => ({ ...half, perSecond: 2.5, peakPerSecond: 25, total: 1e6 }));
    const [both, whole] = [compare(...halves), compare({ ...some, counters: 2, total: 1e6 })];
    expect(both[0].dollars).toBeCloseTo(whole[0].dollars, 6);
  });
});

describe("fixed shards", () => {
  test("cost a write per increment, and a read per shard and view", () => {
    const [, recipe] = compare({ ...some, readsPerDay: 1_000 });
    expect(recipe.name).toBe("10 fixed shards");
    expect(part(recipe, "increments")).toBeCloseTo(5 * MONTH_SECONDS * 1.8e-6, 9);
    expect(part(recipe, "totals, read once")).toBeCloseTo(30 * 1_000 * 10 * 0.6e-6, 9);
  });

  test("take the entry of an increment with `once`, and the rules' lookups, as Tally does", () => {
    const [, recipe] = compare({ ...some, once: 1 });
    expect(part(recipe, "entries of increments with once")).toBeCloseTo(5 * MONTH_SECONDS * 1.8e-6, 9);
    expect(part(recipe, "rules' lookups for increments with once")).toBeCloseTo(5 * MONTH_SECONDS * 2 * 0.6e-6, 9);
    const [tally, plain] = [1, 0].map((once) => monthlyCosts({ ...some, once }, PRICES.nam5).dollars);
    expect((tally ?? 0) - (plain ?? 0)).toBeCloseTo(5 * MONTH_SECONDS * (1.8e-6 + 2 * 0.6e-6), 6);
  });

  test("take one write per second each; the second variant has as many as the peak needs", () => {
    const [, recipe, enough] = compare(some);
    expect(recipe.maxPerSecond).toBe(10);
    expect(enough).toMatchObject({ name: "50 fixed shards", maxPerSecond: 50 });
  });

  test("are one document for counters that need no more", () => {
    const [, , enough] = compare({ ...some, counters: 1_000 });
    expect(enough).toMatchObject({ name: "one document", maxPerSecond: 1 });
  });

  test("are as many on every counter as the busiest one needs", () => {
    const calm = { ...some, counters: 1_000, readsPerDay: 1_000 };
    const [, , enough] = compare(some, calm);
    expect(enough.name).toBe("50 fixed shards");
    expect(part(enough, "totals, read once")).toBeCloseTo(30 * 1_000 * 50 * 0.6e-6, 9);
  });

  test("are watched by listening where that is cheaper than summing up", () => {
    // A write every 1,000 seconds is published alone, and is one change of ten shards.
    const [, recipe] = compare({ ...some, perSecond: 0.001, peakPerSecond: 0, watchers: 3 });
    expect(part(recipe, "totals, read by watchers")).toBeCloseTo(3 * 0.001 * MONTH_SECONDS * 0.6e-6, 9);
  });
});

describe("Redis", () => {
  test("costs its instance even without traffic", () => {
    const [, , , redis] = compare({ ...some, perSecond: 0, peakPerSecond: 0 });
    expect(redis.dollars).toBeCloseTo(0.049 * 720, 9);
  });

  test("is called once for each increment, view and total that a watcher sees", () => {
    const watched = { ...some, readsPerDay: 1_000, watchers: 2 };
    const publishes = amountOf(monthlyCosts(watched, PRICES.nam5), "publishes");
    const calls = 5 * MONTH_SECONDS + 30 * 1_000 + 2 * publishes;
    expect(part(compare(watched)[3], "invocations")).toBeCloseTo(calls * 0.4e-6, 9);
  });

  test("is one instance for all counters, behind one function for all calls", () => {
    const [, , , one] = compare({ ...some, perSecond: 10, counters: 2 });
    const [, , , both] = compare(some, some);
    expect(both.dollars).toBeCloseTo(one.dollars, 6);
  });

  test("takes 100 ms of an instance per rare call, and an instance per 500 calls a second", () => {
    const rare = compare({ ...some, perSecond: 0.001, peakPerSecond: 0 })[3];
    expect(part(rare, "CPU and memory") / (INSTANCE_HOUR * 720)).toBeCloseTo(0.0001, 6);
    const many = compare({ ...some, perSecond: 5_000, peakPerSecond: 0 })[3];
    expect(part(many, "CPU and memory")).toBeCloseTo(10 * INSTANCE_HOUR * 720, 6);
  });
});

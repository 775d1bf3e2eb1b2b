import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { costsOf, PRICES, type Traffic } from "../../costs/src/costs.ts";
import { anyTraffic } from "../../costs/src/traffic.fixture.ts";
import { type Contender, compare, RIVAL_PRICES } from "./rivals.ts";

const MONTH_SECONDS = 30 * 86_400;
const INSTANCE_HOUR = 3_600 * (RIVAL_PRICES.cpuSecond + 0.5 * RIVAL_PRICES.gibSecond);

const some: Traffic = {
  perSecond: 5,
  peakPerSecond: 50,
  peakHours: 1,
  counters: 1,
  keyed: 0,
  watchers: 0,
  readsPerDay: 0,
  perClient: 0,
};

const contenders = (...kinds: Traffic[]) =>
  compare(kinds, PRICES.nam5) as [tally: Contender, recipe: Contender, enough: Contender, redis: Contender];
const part = ({ items }: Contender, name: string) => items.find((item) => item.name === name)?.dollars ?? Number.NaN;

/** Without what the others have not: keys, and clients that come again. */
const anyPlain = anyTraffic.map((traffic): Traffic => ({ ...traffic, keyed: 0, perClient: 0 }));

test("everyone costs the sum of their items, none of them less than nothing", () => {
  fc.assert(
    fc.property(anyPlain, (traffic) => {
      for (const { name, items, dollars } of contenders(traffic)) {
        for (const item of items) expect(item.dollars, `${name}: ${item.name}`).toBeGreaterThanOrEqual(0);
        const sum = items.reduce((all, item) => all + item.dollars, 0);
        expect(dollars, name).toBeCloseTo(sum, 6);
        expect(Number.isFinite(dollars), name).toBe(true);
      }
    }),
  );
});

describe("Tally", () => {
  test("costs what is estimated, and the CPU and memory of its functions", () => {
    const [tally] = contenders(some);
    const { dollars } = costsOf(some, PRICES.nam5);
    expect(part(tally, "Firestore, invocations, tasks")).toBe(dollars);
    expect(part(tally, "CPU and memory")).toBeGreaterThan(0);
    expect(tally.most).toBeUndefined();
  });
});

describe("fixed shards", () => {
  test("cost a write per increment, and as many reads per view as there are shards", () => {
    const [, recipe] = contenders({ ...some, readsPerDay: 1_000 });
    expect(recipe.name).toBe("10 fixed shards");
    expect(part(recipe, "increments")).toBeCloseTo(5 * MONTH_SECONDS * 1.8e-6, 9);
    expect(part(recipe, "totals, by who reads")).toBeCloseTo(30 * 1_000 * 10 * 0.6e-6, 9);
  });

  test("take one write per second each; as many as the peak needs take the peak", () => {
    const [, recipe, enough] = contenders(some);
    expect(recipe.most).toBe(10);
    expect(enough).toMatchObject({ name: "50 fixed shards", most: 50 });
  });

  test("are one document for counters that need no more", () => {
    const [, , enough] = contenders({ ...some, counters: 1_000 });
    expect(enough).toMatchObject({ name: "one document", most: 1 });
  });

  test("are as many on every counter as the busiest of them needs", () => {
    const calm = { ...some, counters: 1_000, readsPerDay: 1_000 };
    const [, , enough] = contenders(some, calm);
    expect(enough.name).toBe("50 fixed shards");
    expect(part(enough, "totals, by who reads")).toBeCloseTo(30 * 1_000 * 50 * 0.6e-6, 9);
  });

  test("are watched by listening where that is cheaper than summing up", () => {
    // A write every 1,000 seconds is published by itself, and is one change of ten shards.
    const [, recipe] = contenders({ ...some, perSecond: 0.001, peakPerSecond: 0, watchers: 3 });
    expect(part(recipe, "totals, by who watches")).toBeCloseTo(3 * 0.001 * MONTH_SECONDS * 0.6e-6, 9);
  });
});

describe("Redis", () => {
  test("costs its instance, whoever uses it", () => {
    const [, , , redis] = contenders({ ...some, perSecond: 0, peakPerSecond: 0 });
    expect(redis.dollars).toBeCloseTo(0.049 * 720, 9);
  });

  test("is called once for each increment, view and look of a watcher", () => {
    const watched = { ...some, readsPerDay: 1_000, watchers: 2 };
    const publishes = costsOf(watched, PRICES.nam5).items.find(({ name }) => name === "publishing the totals");
    const calls = 5 * MONTH_SECONDS + 30 * 1_000 + 2 * (publishes?.perMonth ?? Number.NaN);
    expect(part(contenders(watched)[3], "invocations")).toBeCloseTo(calls * 0.4e-6, 9);
  });

  test("is one instance for all counters, and its function one for all calls", () => {
    const [, , , one] = contenders({ ...some, perSecond: 10, counters: 2 });
    const [, , , both] = contenders(some, some);
    expect(both.dollars).toBeCloseTo(one.dollars, 6);
  });

  test("has an instance that serves a rare call for 100 ms, and one for each 500 of many", () => {
    const rare = contenders({ ...some, perSecond: 0.001, peakPerSecond: 0 })[3];
    expect(part(rare, "CPU and memory") / (INSTANCE_HOUR * 720)).toBeCloseTo(0.0001, 6);
    const many = contenders({ ...some, perSecond: 5_000, peakPerSecond: 0 })[3];
    expect(part(many, "CPU and memory")).toBeCloseTo(10 * INSTANCE_HOUR * 720, 6);
  });
});

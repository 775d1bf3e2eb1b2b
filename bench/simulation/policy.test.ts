import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSpread } from "../../client/src/spread.ts";
import { decideScaling } from "../../functions/src/autoscale.ts";
import { anyConfig, anyCounter, defaults, idle } from "../../functions/src/config.fixture.ts";
import { toTimestamp } from "../../functions/src/counter.ts";
import { publishInterval } from "../../functions/src/interval.ts";
import { nextPublished } from "../../functions/src/publish.ts";
import { randomFor } from "../../test/simulation/random.ts";
import { published, publishedWith, scaleWith, unhurried } from "./policy.ts";
import { configOf, SETTINGS, withSettings } from "./settings.ts";
import { spreadWith } from "./spreading.ts";

describe("what can be varied starts from what deploys", () => {
  test("the configuration", () => {
    expect(configOf(SETTINGS)).toEqual({ ...SETTINGS, ...defaults });
  });

  test("the policy: unvaried, it decides as decideScaling does", () => {
    const anyScaling = fc.record({
      shardCount: fc.integer({ min: 1, max: 10_000 }),
      calmSince: fc.option(fc.integer({ min: 0, max: 4e12 })),
      growing: fc.boolean(),
    });
    const anyDemand = fc.record({
      writes: fc.oneof(fc.nat(30), fc.nat(1e6)),
      within: fc.double({ min: 1, max: 100_000, noNaN: true }),
      quietFor: fc.oneof(fc.nat(120_000), fc.integer({ min: 59_999, max: 60_001 })),
      isContended: fc.boolean(),
    });
    fc.assert(
      fc.property(
        anyDemand,
        anyScaling,
        fc.integer({ min: 0, max: 4e12 }),
        anyConfig,
        (demand, before, now, config) => {
          const { collection: _, counted: __, mirrors: ___, ...numbers } = config;
          const decided = scaleWith(demand, before, now, { ...SETTINGS, ...numbers });
          expect(decided).toEqual(decideScaling(demand, before, now, config));
        },
      ),
    );
  });

  test("the policy: unvaried, it publishes what nextPublished says", () => {
    const anyShard = fc.record({
      id: fc.oneof(fc.constantFrom("0", "base", "imported"), fc.nat(50).map(String)),
      count: fc.integer(),
      writes: fc.nat(1_000),
      before: fc.nat(120_000),
    });
    const anyMeasured = fc.record({
      after: fc.nat(100_000),
      shards: fc.uniqueArray(anyShard, { maxLength: 8, selector: ({ id }) => id }),
      malformed: fc.constantFrom([], ["0"], ["7"]),
      wokenBefore: fc.option(fc.nat(5_000), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.option(anyCounter, { nil: undefined }), anyMeasured, anyConfig, (counter, measured, config) => {
        const now = (counter?.asOf ?? 1e12) + measured.after;
        const { malformed } = measured;
        const shards = measured.shards.map(({ before, ...one }) => ({ ...one, updatedAt: toTimestamp(now - before) }));
        const sum = (field: "count" | "writes") => shards.reduce((all, one) => all + one[field], 0);
        const measurement = {
          total: sum("count"),
          writes: sum("writes"),
          asOf: toTimestamp(now),
          shards,
          malformed,
        };
        const { collection: _, counted: __, mirrors: ___, ...numbers } = config;
        const settings = { ...SETTINGS, ...numbers };
        const wokenAt = measured.wokenBefore === undefined ? undefined : now - measured.wokenBefore;
        const next = publishedWith(counter, measurement, settings, wokenAt);
        expect(next).toEqual(nextPublished(counter, measurement, config, wokenAt));
      }),
    );
  });

  test("the clients: unvaried, one spreads as createSpread does", () => {
    const anyStep = fc.oneof(
      fc.record({ wait: fc.constantFrom(1, 400, 1_000, 30_000) }),
      fc.record({ learned: fc.nat(9_000), growing: fc.boolean() }),
      fc.constantFrom("send" as const, "answer" as const),
    );
    fc.assert(
      fc.property(fc.array(anyStep), (steps) => {
        let now = 1e12;
        const make = [spreadWith.bind(undefined, SETTINGS), createSpread];
        const spreads = make.map((create) =>
          create(
            () => 0,
            () => now,
          ),
        );
        for (const step of steps) {
          if (typeof step === "object" && "wait" in step) now += step.wait;
          for (const spread of spreads) {
            if (step === "send") spread._sent();
            else if (step === "answer") spread._answered();
            else if ("learned" in step) spread._learn(step.learned, step.growing);
          }
          const [copy, original] = spreads.map((spread) => [spread._width(), spread._doubt()]);
          expect(copy).toEqual(original);
        }
      }),
    );
  });
});

describe("growth", () => {
  const cold = { shardCount: 1, calmSince: null, growing: false };
  const grown = (writes: number, ...settings: string[]) =>
    scaleWith({ writes, within: 1_000, quietFor: 0, isContended: false }, cold, 0, withSettings(settings)).shardCount;

  test("follows two writes in a second, if they cannot be noise", () => {
    expect([grown(2), grown(2, "noise=0"), grown(2, "noise=2")]).toEqual([1, 3, 1]);
    expect([grown(10), grown(10, "noise=0"), grown(10, "noise=2")]).toEqual([15, 15, 15]);
  });

  test("has headroom", () => {
    expect([grown(10, "headroom=1"), grown(10, "headroom=2")]).toEqual([10, 20]);
  });
});

test("a counter that has just grown has the shortest interval, unless nobody is in a hurry", () => {
  const counter = { ...idle, total: 0, rate: 100, shardCount: 200 };
  const interval = (growing: boolean, ...settings: string[]) =>
    Math.round(publishInterval(unhurried({ ...counter, growing }, withSettings(settings)), configOf(SETTINGS)));
  expect([interval(true), interval(false)]).toEqual([1_000, 1_905]);
  expect([interval(true, "hurry=0"), interval(false, "hurry=0")]).toEqual([1_905, 1_905]);
});

test("what wakes a sleeping counter has the rate of the moment, if its first rate is to count", () => {
  const measurement = {
    total: 20,
    writes: idle.writes + 20,
    asOf: toTimestamp(idle.asOf + 3_600_000),
    shards: [{ id: "0", count: 20, writes: 20, updatedAt: toTimestamp(idle.asOf + 3_599_900) }],
    malformed: [],
  };
  const shards = (...settings: string[]) =>
    published(idle, measurement, withSettings(settings), idle.asOf + 3_599_900).shardCount;
  expect([shards(), shards("firstRate=0")]).toEqual([30, 1]);
});

test.each(["budget", "budget=", "budget=-1", "budget=much", "budgets=1", "toString=1"])(
  "--set %s is refused",
  (text) => {
    expect(() => withSettings([text])).toThrow(`--set ${text}: `);
  },
);

test("a seed and a name make the same random numbers", () => {
  expect(randomFor(1, "arrivals").next()).toBe(randomFor(1, "arrivals").next());
});

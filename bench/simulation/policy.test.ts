import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSpread } from "../../client/src/spread.ts";
import { decideScaling } from "../../functions/src/autoscale.ts";
import { anyConfig, anyCounter, defaults, idle } from "../../functions/src/config.fixture.ts";
import { toTimestamp } from "../../functions/src/counter.ts";
import { publishInterval } from "../../functions/src/interval.ts";
import { nextPublished } from "../../functions/src/publish.ts";
import { randomFor } from "../../test/simulation/random.ts";
import type { CounterDocument } from "./counter.ts";
import { configFor, published, publishedWith, scaleWith } from "./policy.ts";
import { configOf, SETTINGS, withSettings } from "./settings.ts";
import { spreadWith } from "./widening.ts";

describe("what can be varied starts from what deploys", () => {
  test("the configuration", () => {
    expect(configOf(SETTINGS)).toEqual({ ...SETTINGS, ...defaults });
  });

  test("the policy: unvaried, it decides as decideScaling does", () => {
    const anyScaling = fc.record({
      shardCount: fc.integer({ min: 1, max: 10_000 }),
      calmSince: fc.option(fc.integer({ min: 0, max: 4e12 })),
    });
    const amount = { min: 0, noNaN: true } as const;
    fc.assert(
      fc.property(
        fc.double({ ...amount, max: 20_000 }),
        fc.double({ ...amount, max: 1e6 }),
        fc.oneof(fc.nat(120_000), fc.integer({ min: 59_999, max: 60_001 })),
        anyScaling,
        fc.integer({ min: 0, max: 4e12 }),
        anyConfig,
        (rate, writes, quietFor, scaling, now, config) => {
          const { collection: _, counted: __, mirrors: ___, ...numbers } = config;
          const decided = scaleWith({ rate, writes, quietFor }, scaling, now, { ...SETTINGS, ...numbers });
          expect(decided).toEqual(decideScaling(rate, quietFor, scaling, now, config));
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
        const previous = counter && { ...counter, isGrowing: false };
        const { isGrowing: ____, ...next } = publishedWith(previous, measurement, settings);
        expect(next).toEqual(nextPublished(previous, measurement, config));
      }),
    );
  });

  test("the clients: unvaried, one spreads as createSpread does", () => {
    const anyStep = fc.oneof(fc.record({ took: fc.nat(3_000) }), fc.record({ learned: fc.nat(9_000) }));
    fc.assert(
      fc.property(fc.array(anyStep), (steps) => {
        const spreads = [spreadWith(2, () => 0), createSpread(() => 0)];
        for (const step of steps) {
          for (const spread of spreads) {
            if ("took" in step) spread._acknowledged(step.took);
            else spread._learn(0, step.learned);
          }
          expect(spreads[0]?._width()).toBe(spreads[1]?._width());
        }
      }),
    );
  });
});

describe("growth", () => {
  const observed = (writes: number) => ({ writes, rate: writes, quietFor: 0 });
  const cold = { shardCount: 1, calmSince: null };
  const grown = (writes: number, ...settings: string[]) =>
    scaleWith(observed(writes), cold, 0, withSettings(settings)).shardCount;

  test("follows two writes in a second, unless they may be noise", () => {
    expect([grown(2), grown(2, "noise=1"), grown(2, "noise=2")]).toEqual([2, 1, 1]);
    expect([grown(10), grown(10, "noise=1"), grown(10, "noise=2")]).toEqual([10, 10, 10]);
  });

  test("has headroom", () => {
    expect([grown(10), grown(10, "headroom=2")]).toEqual([10, 20]);
  });
});

describe("the interval", () => {
  const counter = { ...idle, total: 0, rate: 100, isGrowing: false };
  const interval = (one: Partial<CounterDocument>, ...settings: string[]) => {
    const chosen = { ...counter, ...one };
    return publishInterval(chosen, configFor(chosen, withSettings(settings)));
  };
  const wide = (shardCount: number) => ({ shardCount, shardDocuments: shardCount });

  test("is the functions' own, unless it is varied", () => {
    fc.assert(
      fc.property(anyCounter, (any) => configFor({ ...any, isGrowing: true }, SETTINGS) === configOf(SETTINGS)),
    );
    expect(interval(wide(200))).toBeCloseTo(2_667, 0);
  });

  test("of a counter that has just grown is the shortest, if it is in a hurry", () => {
    expect(interval({ ...wide(200), isGrowing: true }, "hurry=1")).toBe(1_000);
    expect(interval(wide(200), "hurry=1")).toBeCloseTo(2_667, 0);
  });

  test("is as short as is fresh enough, if the second budget has it, and never longer than by the first", () => {
    const fresh = ["fresh=1500", "freshBudget=0.5", "smallShards=400"];
    expect([150, 200, 300, 399, 400].map((shards) => Math.round(interval(wide(shards), ...fresh)))).toEqual([
      1_500, 1_500, 2_000, 2_660, 5_333,
    ]);
    expect(interval(wide(100), ...fresh)).toBeCloseTo(1_333, 0);
  });
});

describe("what wakes a sleeping counter", () => {
  const measured = (since: number, writes: number) => ({
    total: writes,
    writes: idle.writes + writes,
    asOf: toTimestamp(idle.asOf + since),
    shards: [{ id: "0", count: writes, writes, updatedAt: toTimestamp(idle.asOf + since - 100) }],
    malformed: [],
  });
  const shards = (since: number, writes: number, ...settings: string[]) =>
    published({ ...idle, isGrowing: false }, measured(since, writes), withSettings(settings)).shardCount;

  test("has the rate of the moment, if its first rate is to count, not of all the time it slept", () => {
    expect([shards(3_600_000, 10), shards(3_600_000, 10, "firstRate=1")]).toEqual([1, 10]);
  });

  test("is not what was to be measured anyway", () => {
    expect([shards(2_000, 10), shards(2_000, 10, "firstRate=1")]).toEqual([5, 5]);
  });
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

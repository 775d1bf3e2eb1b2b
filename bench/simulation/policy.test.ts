import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSpread } from "../../client/src/spread.ts";
import { decideScaling } from "../../functions/src/autoscale.ts";
import { anyConfig, defaults } from "../../functions/src/config.fixture.ts";
import { randomFor } from "../../test/simulation/random.ts";
import { scaleWith } from "./policy.ts";
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
        fc.nat(120_000),
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

  test("has headroom, and goes further the further the load is above the capacity", () => {
    expect([grown(10, "headroom=2"), grown(16, "momentum=0.5")]).toEqual([20, 64]);
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

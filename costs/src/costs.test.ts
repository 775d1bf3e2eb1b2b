import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defaults } from "../../functions/testing/arbitraries.ts";
import { type Costs, costsOf, DEFAULTS, PRICES, type Traffic } from "./costs.ts";
import { anyTraffic } from "./traffic.fixture.ts";

const MONTH_SECONDS = 30 * 86_400;

const idle: Traffic = {
  perSecond: 0,
  peakPerSecond: 0,
  peakHours: 2,
  counters: 1,
  keyed: 0,
  watchers: 0,
  readsPerDay: 0,
  perClient: 1,
};

/** The same traffic all day long. */
const steady = (perSecond: number, traffic: Partial<Traffic> = {}): Traffic => ({
  ...idle,
  perSecond,
  peakPerSecond: perSecond,
  ...traffic,
});

const item = ({ items }: Costs, name: string) => items.find((one) => one.name.startsWith(name))?.perMonth ?? Number.NaN;

test("the defaults are those of a deployment", () => {
  expect(DEFAULTS).toEqual(defaults);
});

describe("what the README has measured", () => {
  const readme = readFileSync("README.md", "utf8");
  const tolerance = Number(/`estimate`[^.]* within (\d+) %/.exec(readme)?.[1]) / 100;
  const row = /^\| ([\d.,]+) +\| ([\d,]+) +\| ([\d,]+) +\| ([\d,]+) +\| ([\d,]+) +\| ([\d.]+) +\|$/gm;
  const measured = [...readme.matchAll(row)]
    .map((cells) => cells.slice(1).map((cell) => Number(cell.replace(",", ""))))
    .map(([rate = 0, , writes = 0, , , dollars = 0]) => ({ rate, writes, dollars }));

  test("is of three rates", () => {
    expect(measured.map(({ rate }) => rate)).toEqual([0.5, 10, 100]);
    expect(tolerance).toBeLessThanOrEqual(0.15);
  });

  test.each(measured)("at $rate increments/s is what is estimated, within the tolerance stated", (figures) => {
    const { rate, writes, dollars } = figures;
    // As bench/costs.ts counts: a new counter, five clients at one in two seconds and else twenty, and no sweep.
    const costs = costsOf(steady(rate, { total: 0, perClient: rate < 1 ? 12 : 20 }), PRICES.nam5);
    const sweeps = costs.items.find(({ name }) => name === "sweeps")?.dollars ?? Number.NaN;
    const off = (estimated: number, found: number) => Math.abs(estimated / found - 1);
    expect(off(((costs.dollars - sweeps) / costs.increments) * 1e6, dollars)).toBeLessThanOrEqual(tolerance);
    const perThousand = ((item(costs, "increments") + item(costs, "publishing")) / costs.increments) * 1_000;
    expect(off(perThousand, writes)).toBeLessThanOrEqual(tolerance);
  });
});

describe("any traffic", () => {
  test("costs what its items do, none of them less than nothing, and at least the writes of its increments", () => {
    fc.assert(
      fc.property(anyTraffic, (traffic) => {
        const { items, dollars, increments } = costsOf(traffic, PRICES.nam5);
        for (const one of items) expect(one.perMonth, one.name).toBeGreaterThanOrEqual(0);
        expect(Number.isFinite(dollars)).toBe(true);
        expect(dollars).toBeCloseTo(
          items.reduce((sum, one) => sum + one.dollars, 0),
          6,
        );
        expect(dollars).toBeGreaterThanOrEqual(increments * PRICES.nam5.write);
      }),
    );
  });

  test("has its increments, however they are spread over the day", () => {
    fc.assert(
      fc.property(anyTraffic, (traffic) => {
        const { increments, phases } = costsOf(traffic, PRICES.nam5);
        const expected = traffic.perSecond * MONTH_SECONDS;
        expect(Math.abs(increments - expected)).toBeLessThanOrEqual(1e-6 * Math.max(expected, 1));
        expect(phases.reduce((sum, { hours }) => sum + hours, 0)).toBeCloseTo(24, 6);
      }),
    );
  });

  test("costs twice as much for twice as many counters of the same kind, but for a sweep that finds nothing", () => {
    fc.assert(
      fc.property(anyTraffic, (traffic) => {
        const twice = {
          ...traffic,
          perSecond: 2 * traffic.perSecond,
          peakPerSecond: 2 * traffic.peakPerSecond,
          counters: 2 * traffic.counters,
          readsPerDay: 2 * traffic.readsPerDay,
        };
        const [one, two] = [costsOf(traffic, PRICES.nam5), costsOf(twice, PRICES.nam5)];
        expect(Math.abs(two.dollars - 2 * one.dollars)).toBeLessThanOrEqual(0.025 + 1e-6 * two.dollars);
      }),
    );
  });

  test("costs half of Firestore's price in a region, and the same for the functions", () => {
    fc.assert(
      fc.property(anyTraffic, (traffic) => {
        const [nam5, regional] = [costsOf(traffic, PRICES.nam5), costsOf(traffic, PRICES.regional)];
        nam5.items.forEach(({ unit, dollars }, i) => {
          const share = unit === "invocation" || unit === "task" ? 1 : 0.5;
          expect(regional.items[i]?.dollars).toBeCloseTo(dollars * share, 6);
        });
      }),
    );
  });
});

test("no traffic costs the sweeps alone", () => {
  const { items } = costsOf(idle, PRICES.nam5);
  const costing = items.filter(({ perMonth }) => perMonth > 0);
  expect(costing.map(({ name, perMonth }) => [name, perMonth])).toEqual([
    ["sweeps", 2 * 8_640],
    ["function invocations", 8_640],
  ]);
});

test("who watches reads each published total", () => {
  const costs = costsOf(steady(100, { watchers: 50 }), PRICES.nam5);
  expect(item(costs, "totals, by who watches")).toBeCloseTo(50 * item(costs, "publishing"));
});

test("a sparse counter publishes nearly every increment; a busy one, once in its interval", () => {
  const sparse = costsOf(steady(0.01), PRICES.nam5);
  expect(item(sparse, "publishing") / sparse.increments).toBeGreaterThan(0.98);
  const busy = costsOf(steady(500), PRICES.nam5);
  expect(busy.phases[0]).toMatchObject({ shards: 750, interval: 10_000 });
  expect(item(busy, "publishing")).toBeCloseTo(MONTH_SECONDS / 10);
});

test("a polled publish is a task, sums 1,000 shards for 2 reads and reads the counter document twice", () => {
  for (const [rate, sums] of [
    [100, 2],
    [1_000, 4],
  ] as const) {
    const costs = costsOf(steady(rate, { total: 0 }), PRICES.nam5);
    expect(item(costs, "publishing")).toBeCloseTo(MONTH_SECONDS);
    expect(item(costs, "tasks")).toBeCloseTo(MONTH_SECONDS);
    // The second read of the counter document is that of a write of shard 0, of which there are two in three seconds.
    expect(item(costs, "measuring") / MONTH_SECONDS).toBeCloseTo(sums + 1 + 1 / 1.5, 1);
  }
});

test("a few shards are listed, and polled when a write is expected", () => {
  const costs = costsOf(steady(1, { total: 0 }), PRICES.nam5);
  expect(costs.phases[0]).toMatchObject({ shards: 2, interval: 1_000 });
  expect(item(costs, "publishing")).toBeCloseTo(MONTH_SECONDS);
  expect(item(costs, "measuring") / MONTH_SECONDS).toBeCloseTo(2 + 1 + 1 / 2);
});

test("a counter that is not polled publishes, reads and puts off as often as one that is written at random", () => {
  const rate = 0.3;
  const costs = costsOf(steady(rate, { total: 0 }), PRICES.nam5);
  const interval = costs.phases[0]?.interval ?? Number.NaN;
  let [publishes, putOff, due, now] = [0, 0, 0, 0];
  // Any fixed sequence of numbers between 0 and 1 that looks random.
  let state = 1;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  for (let write = 0; write < 200_000; write++) {
    now += (-Math.log(random()) * 1_000) / rate;
    if (now < due - interval) continue;
    publishes++;
    if (now < due) putOff++;
    due = Math.max(now, due) + interval;
  }
  const perSecond = (count: number) => (count * 1_000) / now;
  expect(item(costs, "publishing") / MONTH_SECONDS / perSecond(publishes)).toBeCloseTo(1, 1.5);
  expect(item(costs, "tasks") / MONTH_SECONDS / perSecond(putOff)).toBeCloseTo(1, 1.5);
  // Its one shard and the counter document; and the latter once more by who put it off.
  expect(item(costs, "measuring") / MONTH_SECONDS / perSecond(2 * publishes + putOff)).toBeCloseTo(1, 1.5);
});

describe("history", () => {
  test("of a busy counter is a write a minute and one an hour, and a delete for each hour and each day", () => {
    for (const perSecond of [1, 100]) {
      const costs = costsOf(steady(perSecond), PRICES.nam5);
      expect(item(costs, "history") / (30 * 24 * 61)).toBeCloseTo(1);
      expect(item(costs, "history, once") / (30 * 25)).toBeCloseTo(1);
    }
  });

  test("of a counter that is written now and then is a write for each hour in which it was, and hardly any minutes", () => {
    const twiceAnHour = costsOf(steady(2 / 3_600), PRICES.nam5);
    expect(item(twiceAnHour, "history") / (30 * 24)).toBeCloseTo(1 - Math.exp(-2), 1);
    const onceADay = costsOf(steady(1 / 86_400), PRICES.nam5);
    expect(item(onceADay, "history") / item(onceADay, "publishing")).toBeCloseTo(1, 1);
  });

  test("has the busy minutes of a sparse counter that is written at random", () => {
    const rate = 0.04;
    const costs = costsOf(steady(rate), PRICES.nam5);
    const busy = new Set<number>();
    let now = 0;
    let state = 1;
    for (let write = 0; write < 100_000; write++) {
      state = (state * 48_271) % 2_147_483_647;
      const gap = -Math.log(state / 2_147_483_647) / rate;
      now += gap;
      if (gap <= 10) busy.add(Math.floor(now / 60));
    }
    const minutes = item(costs, "history") - 30 * 24;
    // Somewhat too many, since short gaps come together.
    const share = minutes / MONTH_SECONDS / (busy.size / now);
    expect(share).toBeGreaterThan(1);
    expect(share).toBeLessThan(1.25);
  });

  test("is free where none is kept", () => {
    const costs = costsOf(steady(100), PRICES.nam5, { ...DEFAULTS, historyRetention: 0 });
    expect([item(costs, "history"), item(costs, "history, once")]).toEqual([0, 0]);
  });
});

test("a daily peak has its own shards, which are folded every night", () => {
  const costs = costsOf(steady(5, { peakPerSecond: 50, peakHours: 1 }), PRICES.nam5);
  expect(costs.phases.map(({ hours, shards }) => [hours, shards])).toEqual([
    [1, 75],
    [23, 5],
  ]);
  expect(item(costs, "folding shards after the peak: deletes")).toBe(30 * 70);
  expect(item(costs, "folding shards after the peak: base")).toBe(30);
  // Five polls of two sums and the counter document, and a list of 75 shards and `base`.
  expect(item(costs, "polling after the peak")).toBe(30 * 5 * 3);
  expect(item(costs, "folding shards after the peak: listing")).toBe(30 * 76);
});

test("one increment in 128 reads its shard again and removes old marks", () => {
  const costs = costsOf(steady(10), PRICES.nam5);
  expect(item(costs, "old marks, once")).toBeCloseTo(costs.increments / 128);
  expect(item(costs, "old marks, removed")).toBeCloseTo(costs.increments / 128);
});

test("a keyed increment is two writes, and two documents that the rules look up", () => {
  const costs = costsOf(steady(1, { keyed: 0.5 }), PRICES.nam5);
  expect(item(costs, "entries")).toBe(costs.increments / 2);
  expect(item(costs, "rules")).toBe(costs.increments);
});

test("the shard count is read once by each client within two minutes, or never by those who watch", () => {
  expect(item(costsOf(steady(1, { perClient: 20 }), PRICES.nam5), "shard count")).toBe(MONTH_SECONDS / 20);
  expect(item(costsOf(steady(1, { perClient: 0 }), PRICES.nam5), "shard count")).toBe(0);
});

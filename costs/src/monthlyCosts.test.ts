import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_SETTINGS, type Settings } from "../../functions/src/decisions.ts";
import { anyTraffic } from "../testing/arbitraries.ts";
import { amountOf, type MonthlyCosts, monthlyCosts } from "./monthlyCosts.ts";
import { ENTERPRISE_PRICES, PRICES } from "./prices.ts";
import { historyBytes } from "./storedDocuments.ts";
import { MONTH_SECONDS, type Traffic } from "./traffic.ts";

/** As of servers, and of groups with windows or mirrors. */
const NOT_DIRECT: Settings = { ...DEFAULT_SETTINGS, direct: false };

const WITH_HISTORY: Settings = { ...DEFAULT_SETTINGS, history: { ...DEFAULT_SETTINGS.history, groups: "all" } };

const idle: Traffic = {
  perSecond: 0,
  peakPerSecond: 0,
  peakHours: 2,
  counters: 1,
  once: 0,
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

describe("the measurements in docs/performance.md", () => {
  const document = readFileSync("docs/performance.md", "utf8");
  const said = /`estimate` is within (\d+) % of what is measured, at 1\/s within (\d+) %/.exec(document) ?? [];
  const [otherwise = 0, atOne = 0] = said.slice(1).map((percent) => Number(percent) / 100);
  const row = /^\| +([\d.]+) \|.*\| +\$([\d.]+) \| +([\d,]+) \|$/gm;
  const measured = [...document.matchAll(row)]
    .map((cells) => cells.slice(1).map((cell) => Number(cell.replace(",", ""))))
    .map(([rate = 0, dollars = 0, writes = 0]) => ({ rate, writes, dollars }));

  test("cover calm and busy rates", () => {
    expect(measured.map(({ rate }) => rate)).toEqual([0.01, 0.1, 0.3, 0.5, 1, 10, 100]);
    expect([otherwise, atOne]).toEqual([0.15, 0.2]);
  });

  // Two minutes of new counters at 0.1/s are not as hours of them.
  test.each(measured.filter(({ rate }) => rate !== 0.1))(
    "at $rate increments/s match the estimate within the stated tolerance",
    (figures) => {
      const { rate, writes, dollars } = figures;
      // The conditions of `npm run costs`: new counters, pages that increment once up to 0.3/s, five clients at 0.5/s and else twenty, no sweep.
      const perClient = rate < 0.5 ? 1 : rate < 1 ? 12 : 20;
      const costs = monthlyCosts(steady(rate, { total: 0, perClient }), PRICES.nam5);
      const sweeps = amountOf(costs, "sweeps") * (PRICES.nam5.read + PRICES.nam5.invocation / 2);
      const tolerance = rate === 1 ? atOne : otherwise;
      const off = (estimated: number, found: number) => Math.abs(estimated / found - 1);
      expect(off(((costs.dollars - sweeps) / costs.increments) * 1e6, dollars)).toBeLessThanOrEqual(tolerance);
      const writtenAs = (id: "directIncrements" | "increments" | "publishes") => amountOf(costs, id) / costs.increments;
      const perThousand = 1_000 * (writtenAs("directIncrements") + writtenAs("increments") + writtenAs("publishes"));
      expect(off(perThousand, writes)).toBeLessThanOrEqual(tolerance);
    },
  );
});

describe("any traffic", () => {
  test.each([
    ["write", PRICES.nam5, PRICES.nam5.write],
    ["write unit, on Enterprise,", ENTERPRISE_PRICES.regional, ENTERPRISE_PRICES.regional.writeUnit],
  ] as const)(
    "costs the sum of its items, none of them negative, and at least a %s for each increment",
    (_, prices, write) => {
      fc.assert(
        fc.property(anyTraffic, (traffic) => {
          const { items, dollars, increments } = monthlyCosts(traffic, prices);
          for (const one of items) expect(one.perMonth, one.name).toBeGreaterThanOrEqual(0);
          expect(Number.isFinite(dollars)).toBe(true);
          expect(dollars).toBeCloseTo(
            items.reduce((sum, one) => sum + one.dollars, 0),
            6,
          );
          expect(dollars).toBeGreaterThanOrEqual(0.999_999 * increments * write);
        }),
      );
    },
  );

  test("has the same increments, however they are spread over the day", () => {
    fc.assert(
      fc.property(anyTraffic, (traffic) => {
        const { increments, dayParts } = monthlyCosts(traffic, PRICES.nam5);
        const expected = traffic.perSecond * MONTH_SECONDS;
        expect(Math.abs(increments - expected)).toBeLessThanOrEqual(1e-6 * Math.max(expected, 1));
        expect(dayParts.reduce((sum, { hours }) => sum + hours, 0)).toBeCloseTo(24, 6);
      }),
    );
  });

  test("costs twice as much for twice as many equal counters, except for empty sweeps", () => {
    fc.assert(
      fc.property(anyTraffic, (traffic) => {
        const twice = {
          ...traffic,
          perSecond: 2 * traffic.perSecond,
          peakPerSecond: 2 * traffic.peakPerSecond,
          counters: 2 * traffic.counters,
          readsPerDay: 2 * traffic.readsPerDay,
        };
        const [one, two] = [monthlyCosts(traffic, PRICES.nam5), monthlyCosts(twice, PRICES.nam5)];
        expect(Math.abs(two.dollars - 2 * one.dollars)).toBeLessThanOrEqual(0.025 + 1e-6 * two.dollars);
      }),
    );
  });

  test("costs half as much for Firestore in a region, and the same for the functions", () => {
    fc.assert(
      fc.property(anyTraffic, (traffic) => {
        const [nam5, regional] = [monthlyCosts(traffic, PRICES.nam5), monthlyCosts(traffic, PRICES.regional)];
        nam5.items.forEach(({ unit, dollars }, i) => {
          const share = unit === "invocation" || unit === "task" ? 1 : 0.5;
          expect(regional.items[i]?.dollars).toBeCloseTo(dollars * share, 6);
        });
      }),
    );
  });
});

test("no traffic costs the sweeps alone", () => {
  const { items } = monthlyCosts(idle, PRICES.nam5);
  const costing = items.filter(({ perMonth }) => perMonth > 0);
  expect(costing.map(({ id, perMonth }) => [id, perMonth])).toEqual([
    ["sweeps", 2 * 8_640],
    ["invocations", 8_640],
  ]);
});

test("a watcher reads each direct increment and each published total", () => {
  const read = (perSecond: number) =>
    amountOf(monthlyCosts(steady(perSecond, { watchers: 50 }), PRICES.nam5), "watchers");
  expect(read(100)).toBeCloseTo(50 * (MONTH_SECONDS / 10));
  expect(read(0.001)).toBeCloseTo(50 * (MONTH_SECONDS / 1_000));
});

test("an increment of a calm counter is one write, and its client's read of the document", () => {
  const costs = monthlyCosts(steady(0.001), PRICES.nam5);
  const billed = costs.items.filter(({ id, perMonth }) => perMonth > 0.01 && id !== "sweeps" && id !== "invocations");
  expect(billed.map(({ id }) => id)).toEqual(["directIncrements", "shardCount"]);
  expect(amountOf(costs, "directIncrements")).toBeCloseTo(costs.increments);
  expect(amountOf(costs, "invocations")).toBeCloseTo(30 * 24 * 12);
});

test("servers, several regions and groups with windows, a history or mirrors have no direct increments", () => {
  const direct = (some: Partial<Traffic>, settings: Partial<Settings> = {}) =>
    amountOf(monthlyCosts(steady(0.01, some), PRICES.nam5, { ...DEFAULT_SETTINGS, ...settings }), "directIncrements");
  expect(direct({})).toBeGreaterThan(0);
  expect([direct({ batch: 1 }), direct({ regions: 2 })]).toEqual([0, 0]);
  expect([
    direct({}, { direct: false }),
    direct({}, { windows: { ...DEFAULT_SETTINGS.windows, groups: ["views"] } }),
  ]).toEqual([0, 0]);
  expect([
    direct({}, { history: { ...DEFAULT_SETTINGS.history, groups: "all" } }),
    direct({}, { minShards: 2 }),
  ]).toEqual([0, 0]);
});

test("a sparse counter without direct increments publishes nearly every increment; a busy one, once in its interval", () => {
  const sparse = monthlyCosts(steady(0.01), PRICES.nam5, NOT_DIRECT);
  expect(amountOf(sparse, "publishes") / sparse.increments).toBeGreaterThan(0.98);
  const busy = monthlyCosts(steady(500), PRICES.nam5);
  expect(busy.dayParts[0]).toMatchObject({ shards: 750, interval: 10_000 });
  expect(amountOf(busy, "publishes")).toBeCloseTo(MONTH_SECONDS / 10);
});

test("a polled publish is a task, sums 1,000 shards for 2 reads and reads the counter document twice", () => {
  for (const [rate, sums] of [
    [100, 2],
    [1_000, 4],
  ] as const) {
    const costs = monthlyCosts(steady(rate, { total: 0 }), PRICES.nam5);
    expect(amountOf(costs, "publishes")).toBeCloseTo(MONTH_SECONDS);
    expect(amountOf(costs, "tasks")).toBeCloseTo(MONTH_SECONDS);
    // A write of shard 0 also reads the counter document; there is about one in ten seconds.
    expect(amountOf(costs, "measurements") / MONTH_SECONDS).toBeCloseTo(sums + 1 + 1 / 10.5, 2);
  }
});

test("a few shards are listed, and polled when a write is expected", () => {
  const costs = monthlyCosts(steady(1, { total: 0 }), PRICES.nam5);
  expect(costs.dayParts[0]).toMatchObject({ shards: 2, interval: 1_000 });
  expect(amountOf(costs, "publishes")).toBeCloseTo(MONTH_SECONDS);
  expect(amountOf(costs, "measurements") / MONTH_SECONDS).toBeCloseTo(2 + 1 + 1 / 2);
});

test("a counter that is not polled publishes, reads and schedules as often as a simulated one", () => {
  const rate = 0.3;
  const costs = monthlyCosts(steady(rate, { total: 0 }), PRICES.nam5, NOT_DIRECT);
  const interval = costs.dayParts[0]?.interval ?? Number.NaN;
  let [publishes, scheduled, due, now] = [0, 0, 0, 0];
  // A fixed pseudo-random sequence.
  let state = 1;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  for (let write = 0; write < 200_000; write++) {
    now += (-Math.log(random()) * 1_000) / rate;
    if (now < due - interval) continue;
    publishes++;
    if (now < due) scheduled++;
    due = Math.max(now, due) + interval;
  }
  const perSecond = (count: number) => (count * 1_000) / now;
  expect(amountOf(costs, "publishes") / MONTH_SECONDS / perSecond(publishes)).toBeCloseTo(1, 1.5);
  expect(amountOf(costs, "tasks") / MONTH_SECONDS / perSecond(scheduled)).toBeCloseTo(1, 1.5);
  // Its one shard and the counter document, and the latter once more by the wake that schedules.
  expect(amountOf(costs, "measurements") / MONTH_SECONDS / perSecond(2 * publishes + scheduled)).toBeCloseTo(1, 1.5);
});

describe("history", () => {
  test("of a busy counter is a write a minute and one an hour, and a delete for each hour and each day", () => {
    for (const perSecond of [1, 100]) {
      const costs = monthlyCosts(steady(perSecond), PRICES.nam5, WITH_HISTORY);
      expect(amountOf(costs, "history") / (30 * 24 * 61)).toBeCloseTo(1);
      expect(amountOf(costs, "expiredHistory") / (30 * 25)).toBeCloseTo(1);
    }
  });

  test("of a sparse counter is a write for each hour with a write, and hardly any minutes", () => {
    const twiceAnHour = monthlyCosts(steady(2 / 3_600), PRICES.nam5, WITH_HISTORY);
    expect(amountOf(twiceAnHour, "history") / (30 * 24)).toBeCloseTo(1 - Math.exp(-2), 1);
    const onceADay = monthlyCosts(steady(1 / 86_400), PRICES.nam5, WITH_HISTORY);
    expect(amountOf(onceADay, "history") / amountOf(onceADay, "publishes")).toBeCloseTo(1, 1);
  });

  test("has the busy minutes of a simulated sparse counter", () => {
    const rate = 0.04;
    const costs = monthlyCosts(steady(rate), PRICES.nam5, WITH_HISTORY);
    const busy = new Set<number>();
    let now = 0;
    let state = 1;
    for (let write = 0; write < 100_000; write++) {
      state = (state * 48_271) % 2_147_483_647;
      const gap = -Math.log(state / 2_147_483_647) / rate;
      now += gap;
      if (gap <= 10) busy.add(Math.floor(now / 60));
    }
    const minutes = amountOf(costs, "history") - 30 * 24;
    // An overestimate, since short gaps cluster.
    const share = minutes / MONTH_SECONDS / (busy.size / now);
    expect(share).toBeGreaterThan(1);
    expect(share).toBeLessThan(1.25);
  });

  test("costs nothing if it is not chosen", () => {
    const costs = monthlyCosts(steady(100), PRICES.nam5);
    expect([amountOf(costs, "history"), amountOf(costs, "expiredHistory")]).toEqual([0, 0]);
  });
});

test("a daily peak has its own shards, which are folded every night", () => {
  const costs = monthlyCosts(steady(5, { peakPerSecond: 50, peakHours: 1 }), PRICES.nam5);
  expect(costs.dayParts.map(({ hours, shards }) => [hours, shards])).toEqual([
    [1, 75],
    [23, 5],
  ]);
  expect(amountOf(costs, "foldDeletes")).toBe(30 * 70);
  expect(amountOf(costs, "foldBase")).toBe(30);
  // 13 polls of two sums and the counter document, and a list of 75 shards and `base`.
  expect(amountOf(costs, "lastPolls")).toBe(30 * 13 * 3);
  expect(amountOf(costs, "foldListing")).toBe(30 * 76);
});

test("the functions look at one shard, for expired marks, for every 512 increments", () => {
  const costs = monthlyCosts(steady(10), PRICES.nam5);
  expect(amountOf(costs, "markCleanings")).toBeCloseTo(costs.increments / 512);
});

test("an increment with `once` is two writes, and two documents that the rules look up", () => {
  const costs = monthlyCosts(steady(1, { once: 0.5 }), PRICES.nam5);
  expect(amountOf(costs, "entries")).toBe(costs.increments / 2);
  expect(amountOf(costs, "lookups")).toBe(costs.increments);
});

test("a client reads the shard count once in two minutes, or never if it watches", () => {
  expect(amountOf(monthlyCosts(steady(1, { perClient: 20 }), PRICES.nam5), "shardCount")).toBe(MONTH_SECONDS / 20);
  expect(amountOf(monthlyCosts(steady(1, { perClient: 0 }), PRICES.nam5), "shardCount")).toBe(0);
});

describe("in several regions", () => {
  const inRegions = (regions: number, traffic: Partial<Traffic> = {}) =>
    monthlyCosts(steady(90, { total: 1_000, ...traffic, regions }), PRICES.nam5);

  test("one costs what it does without the others", () => {
    expect(inRegions(1)).toEqual(monthlyCosts(steady(90, { total: 1_000 }), PRICES.nam5));
  });

  test("each total is brought to each other region, once in two seconds for each of them at most", () => {
    const costs = inRegions(3);
    expect(costs.increments).toBeCloseTo(inRegions(1).increments, 0);
    expect(amountOf(costs, "exchangeWrites")).toBeCloseTo((3 * 2 * MONTH_SECONDS) / 4, 0);
    expect(amountOf(costs, "exchangeReads")).toBeCloseTo((3 * 3 * MONTH_SECONDS) / 4, 0);
    expect(amountOf(inRegions(3, { total: 1e9 }), "exchangeWrites")).toBeCloseTo((3 * 2 * MONTH_SECONDS) / 10, 0);
  });

  test("watchers read what arrives, too: in all as many totals a second as those of one region", () => {
    const readIn = (regions: number) => amountOf(inRegions(regions, { watchers: 9 }), "watchers");
    expect(readIn(3)).toBeCloseTo(readIn(1), 0);
  });
});

describe("through ingest", () => {
  const perMillion = (batch: number | undefined, traffic: Partial<Traffic> = {}) => {
    const costs = monthlyCosts(steady(1_000, { ...traffic, batch }), PRICES.nam5);
    return (costs.dollars / costs.increments) * 1e6;
  };

  test("a request costs a write, its delete and an invocation, and hardly more if they are many", () => {
    expect(perMillion(1)).toBeCloseTo(2.4, 1);
    expect(perMillion(10)).toBeLessThan(0.3);
    expect(perMillion(100)).toBeLessThan(0.1);
    expect(perMillion(undefined)).toBeGreaterThan(1.8);
  });

  test("events of many counters share requests, but each counter needs a write", () => {
    expect(perMillion(10, { counters: 1_000_000 })).toBeGreaterThan(2);
    expect(perMillion(10, { counters: 10 })).toBeLessThan(0.4);
  });

  test("no traffic costs no requests", () => {
    expect(amountOf(monthlyCosts({ ...idle, batch: 10 }, PRICES.nam5), "receipts")).toBe(0);
  });
});

describe("on the Enterprise edition", () => {
  const onBoth = (perSecond: number, some: Partial<Traffic> = {}) => {
    const traffic = steady(perSecond * 100, { counters: 100, ...some });
    const all = [PRICES.regional, ENTERPRISE_PRICES.regional].map((prices) => monthlyCosts(traffic, prices));
    const perMillion = all.map(({ dollars, increments }) => (dollars / increments) * 1e6);
    return { standard: perMillion[0] as number, enterprise: perMillion[1] as number, costs: all[1] as MonthlyCosts };
  };

  test("100 increments a second cost at most $0.40 a million, and 1 a second at most half of Standard", () => {
    for (const perClient of [0, 1]) {
      expect(onBoth(100, { perClient }).enterprise).toBeLessThanOrEqual(0.4);
      const { standard, enterprise } = onBoth(1, { perClient });
      expect(enterprise).toBeLessThanOrEqual(standard / 2);
    }
  });

  test("a like costs at most half of Standard", () => {
    for (const perSecond of [0.01, 1, 100]) {
      const { standard, enterprise } = onBoth(perSecond, { once: 1 });
      expect(enterprise).toBeLessThanOrEqual(standard / 2);
    }
  });

  test("a counter has three times as many shards, and a measurement scans them", () => {
    const { costs } = onBoth(100, { counters: 1, perSecond: 100, peakPerSecond: 100, total: 0 });
    expect(costs.dayParts[0]?.shards).toBe(429);
    // 429 shards of 580 bytes, their count, the counter document, and a wake of shard 0 now and then.
    expect(amountOf(costs, "measurements") / MONTH_SECONDS).toBeCloseTo(61 + 4 + 1, 0);
  });

  test("minutes of the history share a document, which each of them writes in whole", () => {
    const costs = monthlyCosts(steady(1), ENTERPRISE_PRICES.regional, WITH_HISTORY);
    const hour = [...Array(60).keys()].map((n) => Math.ceil(historyBytes(n + 1) / 1_024));
    const sum = hour.reduce((all, one) => all + one, 0);
    expect(amountOf(costs, "history") / (30 * 24) / sum).toBeCloseTo(1, 1);
    expect(amountOf(costs, "expiredHistory") / (30 * 24)).toBeCloseTo(Math.ceil(historyBytes(60) / 1_024), 0);
  });

  test("a watcher costs what it does on Standard: a real-time update costs as much as a read", () => {
    const dollars = [PRICES.regional, ENTERPRISE_PRICES.regional].map(
      (prices) =>
        monthlyCosts(steady(100, { watchers: 50 }), prices).items.find(({ id }) => id === "watchers")?.dollars,
    );
    expect(dollars[0]).toBeCloseTo(dollars[1] as number, 6);
  });
});

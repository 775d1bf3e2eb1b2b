/**
 * What the load simulator shows of the functions and clients: totals are complete and fresh, crowds are absorbed, and the bill is
 * what `estimate` says.
 */
import { describe, expect, test, vi } from "vitest";
import { dollarsPerMillion, sumOf } from "../../bench/simulation/bill.ts";
import {
  CONNECTION_RATES,
  FEW_CLIENTS,
  flashCrowd,
  MANY_CLIENTS,
  newCounter,
  ONCE_EACH,
  onceEach,
  type Scenario,
  sawtooth,
  steady,
} from "../../bench/simulation/scenarios.ts";
import { configOf, SETTINGS, withSettings } from "../../bench/simulation/settings.ts";
import { simulate } from "../../bench/simulation/simulate.ts";
import { type Summary, summarize, timelineOf } from "../../bench/simulation/summary.ts";
import { ENTERPRISE_PRICES, monthlyCosts, PRICES, perMillion, priceOf } from "../../costs/src/index.ts";
import { shardTotalOf } from "../../functions/src/counter/direct.ts";
import { DEFAULT_CONFIG } from "../../functions/src/deploy/defaultConfig.ts";

const run = (scenario: Scenario, changed: readonly string[] = [], seed = 1) =>
  simulate(scenario, withSettings(changed), seed);
const SEEDS = [1, 2, 3];
const HOUR = 3_600_000;

vi.setConfig({ testTimeout: 60_000 });

test("a seed makes the same run, another seed another", () => {
  const figures = (seed: number) => {
    const outcome = run(flashCrowd(100, 30_000), [], seed);
    return JSON.stringify([summarize(outcome), timelineOf(outcome)]);
  };
  expect(figures(1)).toBe(figures(1));
  expect(figures(1)).not.toBe(figures(2));
});

describe("settings", () => {
  test("start from the configuration that deploys", () => {
    expect(configOf(SETTINGS)).toEqual({ ...SETTINGS, ...DEFAULT_CONFIG });
  });

  test.each(["precision", "precision=", "precision=-1", "precision=much", "precisions=1", "toString=1"])(
    "--set %s is refused",
    (text) => {
      expect(() => withSettings([text])).toThrow(`--set ${text}: `);
    },
  );
});

// Over before a sweep could repair anything.
const stopping: Scenario = {
  ...onceEach(),
  name: "many counters that stop",
  lasts: 10_000,
  settles: 60_000,
  rate: () => 300,
  counterOf: (random) => Math.floor(random() * 300),
};
const trickle: Scenario = {
  ...flashCrowd(30, 900_000),
  name: "trickle after a crowd",
  rate: (now) => (now < 30_000 ? 30 : 0.05),
};
const SCENARIOS = [flashCrowd(300, 30_000), sawtooth(20_000, 90_000, 3, 30), onceEach(2_000), stopping, trickle];
const WORLDS = {
  "as deployed": [],
  "slow functions": ["eventLatency=10", "backendLatency=300"],
  "no index": ["index=0"],
};

describe.each(Object.entries(WORLDS))("%s", (_, world) => {
  test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    "%s: all that was committed is published, not too often, and sums up",
    (_, scenario) => {
      const { counters, metrics, settings } = run(scenario, world);
      expect(metrics.shortestInterval).toBeGreaterThanOrEqual(settings.minInterval);
      expect(metrics.overdue).toBe(0);
      for (const { shards, base, bill, documents, published, unpublished, direct } of counters) {
        const all = [base, ...shards].filter(({ writes }) => writes !== undefined);
        const held = all.reduce((sum, { writes = 0 }) => sum + writes, 0);
        const counted = direct?.count ?? 0;
        expect([held + counted, unpublished.length]).toEqual([bill.increments, 0]);
        expect(shardTotalOf(published) + counted).toBe(bill.increments);
        expect(documents).toBe(all.length);
      }
    },
  );

  test("idle is free: once a crowd is gone and its shards are folded, nothing is billed", () => {
    const crowd = flashCrowd(200, 30_000);
    // What a fold has left is looked at once more, after 50 minutes.
    const [early, late] = [2 * HOUR, 5 * HOUR].map((settles) => run({ ...crowd, settles }, world).bill);
    expect(late).toEqual(early);
  });
});

test("a total is as old as the longest interval at most", () => {
  for (const scenario of SCENARIOS)
    for (const seed of SEEDS) expect(run(scenario, [], seed).metrics.staleness.max, scenario.name).toBeLessThan(11_000);
});

test("a total is at most as late as the tasks are, and complete in the end", () => {
  for (const scenario of SCENARIOS) {
    const { metrics, counters } = run({ ...scenario, settles: HOUR }, ["taskLatency=180000"]);
    expect(metrics.staleness.max, scenario.name).toBeLessThan(180_000 + 11_000);
    for (const { unpublished } of counters) expect(unpublished, scenario.name).toEqual([]);
  }
});

test("a counter that is incremented once costs its write, and the read before it", () => {
  expect(summarize(run(onceEach(1_000))).dollars).toBeCloseTo(1.8 + 0.6, 2);
});

test("an increment of a busy counter costs no invocation", () => {
  const scenario = steady(50, { clients: 10, perClient: Number.POSITIVE_INFINITY }, 100_000);
  expect(summarize(run(scenario)).costs.invocations).toBeLessThan(0.03);
});

test.each([
  // Two sums, one after the other, and a third if the second poll folds.
  ["five seconds", 7, 13_000, 2.3],
  ["a quarter of a minute", 20, 10_300, 2.3],
])(
  "if sums come to take %s, the totals of a counter at 1,000/s are little more than ten seconds late",
  (_, slowdown, late, most) => {
    const { metrics, counters, ...outcome } = run(steady(1_000, MANY_CLIENTS, 600_000), [
      `aggregationSlowdown=${slowdown}`,
    ]);
    expect(metrics.staleness.max).toBeLessThan(late);
    expect(summarize({ metrics, counters, ...outcome }).dollars).toBeLessThan(most);
  },
);

test("without the index each measurement reads every shard", () => {
  const scenario = () => steady(100, FEW_CLIENTS, 60_000);
  const [measuring, listing] = [[], ["index=0"]].map((world) => summarize(run(scenario(), world)).costs.measuring);
  expect(measuring).toBeCloseTo((2 * 0.6) / 100, 2);
  expect(listing).toBeGreaterThan(0.5);
});

test.each([
  ["1,000/s after 1/s", () => flashCrowd(1_000), 2.07, 6_000],
  ["a new counter at 100/s", () => newCounter(100, MANY_CLIENTS), 2.02, 1_000],
  ["100/s that come and go", () => sawtooth(120_000, 120_000, 8), 2.06, 1_000],
] as const)(
  "crowds of %s are absorbed within seconds and published within 1.2 s, for a few cents more than their writes",
  (_, scenario, most, recovery) => {
    for (const seed of SEEDS) {
      const { dollars, staleMillis, acknowledged, recoveryMillis } = summarize(run(scenario(), [], seed));
      expect(recoveryMillis ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(recovery);
      expect(staleMillis.p95).toBeLessThanOrEqual(1_200);
      expect(dollars).toBeLessThanOrEqual(most);
      expect(acknowledged).toBeGreaterThan(0.999);
    }
  },
);

describe("slow connections", () => {
  const figures = (scenario: Scenario, ...settings: string[]) => summarize(run(scenario, settings));
  /** How many times as dear a scenario is with these settings as without. */
  const dearness = (create: () => Scenario, ...settings: string[]) =>
    figures(create(), ...settings).dollars / figures(create()).dollars;

  test.each(CONNECTION_RATES)("one phone in ten with round trips of 1.5 s costs little more, at %s/s", (rate) => {
    const pages = () => steady(rate, ONCE_EACH, rate < 0.1 ? 12 * HOUR : undefined);
    expect(dearness(pages, "slow=0.1")).toBeLessThan(1.07);
    expect(dearness(pages, "slow=0.1", "cold=1")).toBeLessThan(1.07);
  });

  test("phones that write again cost no more, however slow; lost messages cost less than two thirds more", () => {
    const phones = () => steady(0.3, { clients: 3, perClient: Number.POSITIVE_INFINITY }, 3 * HOUR);
    expect(dearness(phones, "slow=1", "roundTrip=2500")).toBeLessThan(1.05);
    expect(dearness(phones, "lossy=0.3", "jittery=0.3")).toBeLessThan(1.65);
  });

  test("half of a crowd on slow phones: p95 below 3.5 s, less than 1.5 times the documents", () => {
    const [fast, slow] = [0, 0.5].map((share) => figures(flashCrowd(1_000, 90_000, ONCE_EACH), `slow=${share}`)) as [
      Summary,
      Summary,
    ];
    expect(slow.ackMillis.p95).toBeLessThan(3_500);
    expect(slow.mostDocuments / fast.mostDocuments).toBeLessThan(1.5);
  });
});

test.each([1, 8])(
  "ten minutes of commits of 2 to 10 s cost little, with %d instances: one chain of polls",
  (instances) => {
    const { metrics, ...outcome } = run(steady(100, MANY_CLIENTS, 600_000), [
      "slowCommitsFor=600000",
      `instances=${instances}`,
    ]);
    expect(summarize({ metrics, ...outcome }).dollars).toBeLessThan(2.4);
    expect(metrics.measurements).toBeLessThan(600);
    // A measurement waits for the commit of the one before.
    expect(metrics.staleness.quantile(0.95)).toBeLessThan(17_000);
  },
);

test.each([
  [1, 3, 6.5],
  [10, 23, 2.4],
  [100, 300, 2],
])("%d/s for an hour needs at most %d shards, and costs at most $%d per million", (perSecond, shards, most) => {
  for (const seed of SEEDS) {
    const { dollars, mostShards } = summarize(
      run(steady(perSecond, FEW_CLIENTS, perSecond > 10 ? HOUR / 6 : HOUR), [], seed),
    );
    expect(mostShards).toBeLessThanOrEqual(shards);
    expect(dollars).toBeLessThanOrEqual(most);
  }
});

test("on Enterprise a crowd is absorbed by three times as many shards, at most $0.45 per million", () => {
  for (const seed of SEEDS) {
    const [standard, enterprise] = [0, 1].map((edition) =>
      summarize(run(flashCrowd(100, 120_000), [`enterprise=${edition}`], seed)),
    ) as [ReturnType<typeof summarize>, ReturnType<typeof summarize>];
    expect(enterprise.acknowledged).toBeGreaterThanOrEqual(standard.acknowledged);
    expect(enterprise.mostShards).toBeGreaterThan(2 * standard.mostShards);
    expect(enterprise.dollars).toBeLessThanOrEqual(0.45);
  }
});

test.each([
  ...[0.03, 0.1, 0.2, 0.3].map((rate) => ["Standard", rate, 5, ONCE_EACH] as const),
  ["Standard", 0.5, 10, FEW_CLIENTS] as const,
  // It takes a counter to have silent shards all the time, and one at 1/s has them about half the time.
  ["Standard", 1, 25, FEW_CLIENTS] as const,
  ["Standard", 10, 10, FEW_CLIENTS] as const,
  ["Standard", 100, 10, FEW_CLIENTS] as const,
  ["Enterprise", 10, 10, FEW_CLIENTS] as const,
  ["Enterprise", 100, 10, FEW_CLIENTS] as const,
])("on %s, at %d/s, `estimate` comes within %d %% of what is simulated", (edition, rate, percent, audience) => {
  const isEnterprise = edition === "Enterprise";
  const prices = isEnterprise ? ENTERPRISE_PRICES.regional : PRICES.nam5;
  const traffic = { perSecond: rate, peakPerSecond: rate, peakHours: 24, counters: 1, once: 0, watchers: 0 };
  // The few clients do not watch, and hardly ever read the shard count.
  const perClient = audience === ONCE_EACH ? 1 : 1e9;
  const { items, increments } = monthlyCosts({ ...traffic, readsPerDay: 0, perClient, total: 0 }, prices);
  const { bill } = run(steady(rate, audience), isEnterprise ? ["enterprise=1"] : []);
  const simulated = dollarsPerMillion(bill, prices);
  // One counter alone makes sweeps seem dear. Each is an invocation with two queries.
  const sweeps = items.find(({ id }) => id === "sweeps");
  const ofSweeps = (sweeps?.dollars ?? 0) + priceOf({ invocation: (sweeps?.perMonth ?? 0) / 2 }, prices);
  const estimated = items.reduce((sum, { dollars }) => sum + dollars, -ofSweeps);
  const leftOut = simulated.sweeps + (perClient > 1 ? simulated["shard count, by clients"] : 0);
  const ratio = perMillion({ dollars: estimated, increments }) / (sumOf(simulated) - leftOut);
  expect(Math.abs(ratio - 1)).toBeLessThan(percent / 100);
});

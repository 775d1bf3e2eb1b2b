import { expect, test } from "vitest";
import { PRICES } from "../../../costs/src/index.ts";
import { enterprisePerMillion } from "./enterpriseCosts.ts";
import { observedCosts } from "./observedCosts.ts";
import type { Published } from "./published.ts";
import { EMPTY_LOG, logPublish, WINDOW_MS } from "./publishLog.ts";

const published = (asOf: number, changes: Partial<Published> = {}): Published => ({
  id: "demo:traffic",
  total: 0,
  rate: 0,
  shardCount: 1,
  writes: 0,
  directWrites: 0,
  publishes: 0,
  publishedAt: asOf,
  shardDocuments: 1,
  slowSince: undefined,
  malformedShards: [],
  windows: null,
  isIdle: false,
  isQuiet: false,
  nextPollAt: undefined,
  isOpen: false,
  isCollection: false,
  ...changes,
  asOf,
});

test("the chart has two minutes and one publish before them; the sums have everything since the page was opened", () => {
  let log = EMPTY_LOG;
  for (let at = 0; at <= 2 * WINDOW_MS; at += 1_000) {
    const publishes = 7 + at / 1_000;
    log = logPublish(log, published(at, { writes: 1_000 + at, shardDocuments: 3, shardCount: 2, publishes }));
    log = logPublish(log, published(at, { writes: 0 }));
  }
  expect(log.recent[0]?.asOf).toBe(WINDOW_MS - 1_000);
  expect(log.recent.at(-1)?.asOf).toBe(2 * WINDOW_MS);
  expect(log).toMatchObject({
    seen: 241,
    measuring: 720,
    wakes: 120_000,
    first: { asOf: 0 },
    last: { writes: 241_000 },
  });
});

test("a million increments to one shard cost their writes, and an invocation each", () => {
  const log = logPublish(logPublish(EMPTY_LOG, published(0)), published(1_000, { writes: 1_000_000, publishes: 1 }));
  expect(observedCosts(EMPTY_LOG, PRICES.nam5).dollars).toBe(0);
  expect(observedCosts(log, PRICES.nam5)).toMatchObject({ writes: 1_000_001, reads: 2 });
  expect(observedCosts(log, PRICES.nam5).dollars).toBeCloseTo(1.8 + 0.4, 4);
});

test("a direct increment costs a write alone, and a publish of the instant before it counts", () => {
  const calm = { writes: 7, publishes: 3 };
  let log = logPublish(EMPTY_LOG, published(1_000, calm));
  log = logPublish(log, published(2_000, { ...calm, directWrites: 4, total: 4, publishedAt: 1_000 }));
  log = logPublish(log, published(2_000, { ...calm, directWrites: 4, total: 4, publishedAt: 1_000 }));
  expect(log).toMatchObject({ seen: 2, wakes: 0, measuring: 0, last: { total: 4 } });
  expect(observedCosts(log, PRICES.nam5)).toMatchObject({ writes: 4, reads: 0, calls: 0 });
  log = logPublish(log, published(2_000, { writes: 8, publishes: 4, directWrites: 4, total: 5, publishedAt: 1_900 }));
  expect(log.last?.total).toBe(5);
  expect(observedCosts(log, PRICES.nam5)).toMatchObject({ writes: 4 + 1 + 1 });
});

test("unseen publishes have a cost, and folding shards later does not change earlier costs", () => {
  const large = { shardCount: 5, shardDocuments: 100 };
  const before = logPublish(
    logPublish(EMPTY_LOG, published(0, large)),
    published(60_000, { ...large, writes: 1_000, publishes: 9 }),
  );
  expect(observedCosts(before, PRICES.nam5)).toMatchObject({ writes: 1_009, reads: 27, calls: 200 + 2 * 9 });
  const after = logPublish(before, published(61_000, { writes: 1_000, publishes: 10 }));
  expect(observedCosts(after, PRICES.nam5)).toMatchObject({ writes: 1_010, reads: 29, calls: 200 + 2 * 10 });
});

test("Enterprise is estimated from the rate since the page was opened", () => {
  expect(enterprisePerMillion(EMPTY_LOG)).toBeUndefined();
  expect(enterprisePerMillion(logPublish(EMPTY_LOG, published(0)))).toBeUndefined();
  const after = (writes: number) =>
    enterprisePerMillion(logPublish(logPublish(EMPTY_LOG, published(0)), published(60_000, { writes, total: writes })));
  expect(after(6_000)).toBeGreaterThan(0.26);
  expect(after(6_000)).toBeLessThan(after(60) as number);
});

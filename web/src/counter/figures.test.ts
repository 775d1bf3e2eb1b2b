import { expect, test } from "vitest";
import { PRICES } from "../../../costs/src/index.ts";
import { billOf } from "./bill.ts";
import { FreshnessLog } from "./freshness.ts";
import { NOTHING_SEEN, see, WINDOW_MS } from "./history.ts";
import type { Published } from "./published.ts";

const published = (asOf: number, changes: Partial<Published> = {}): Published => ({
  id: "demo:traffic",
  total: 0,
  rate: 0,
  shardCount: 1,
  writes: 0,
  publishes: 0,
  shardDocuments: 1,
  malformedShards: [],
  ...changes,
  asOf,
});

test("an increment is fresh after the time from its acknowledgement to the first total that includes it", () => {
  const log = new FreshnessLog();
  expect(log.get()).toBeUndefined();
  log.published(1_000, 1_000);
  log.acknowledged([1_100, 1_200, 5_000]);
  expect(log.get()).toBeUndefined();
  log.published(1_150, 1_300);
  expect(log.get()).toEqual({ median: 200, p95: 200 });
  log.published(2_150, 2_300);
  expect(log.get()).toEqual({ median: 1_100, p95: 1_100 });
  log.rest();
  log.published(9_000, 9_100);
  expect(log.get()).toEqual({ median: 1_100, p95: 1_100 });
});

test.each([3_600_000, -3_600_000])("a clock that is wrong by %s ms changes nothing", (wrong) => {
  const log = new FreshnessLog();
  log.published(0, 60_000 + wrong);
  log.published(100_000, 100_000 + wrong);
  log.acknowledged([100_100 + wrong, 101_500 + wrong]);
  log.published(101_000, 101_010 + wrong);
  expect(log.get()?.median).toBe(910);
});

test("what is drawn is two minutes, from one publish before them; what is counted is all since the page came", () => {
  let seen = NOTHING_SEEN;
  for (let at = 0; at <= 2 * WINDOW_MS; at += 1_000) {
    const publishes = 7 + at / 1_000;
    seen = see(seen, published(at, { writes: 1_000 + at, shardDocuments: 3, shardCount: 2, publishes }));
    seen = see(seen, published(at, { writes: 0 }));
  }
  expect(seen.recent[0]?.asOf).toBe(WINDOW_MS - 1_000);
  expect(seen.recent.at(-1)?.asOf).toBe(2 * WINDOW_MS);
  expect(seen).toMatchObject({
    seen: 241,
    documents: 720,
    wakes: 120_000,
    first: { asOf: 0 },
    last: { writes: 241_000 },
  });
});

test("a million increments to one shard cost their writes, and an invocation each", () => {
  const seen = see(see(NOTHING_SEEN, published(0)), published(1_000, { writes: 1_000_000, publishes: 1 }));
  expect(billOf(NOTHING_SEEN, PRICES.nam5).dollars).toBe(0);
  expect(billOf(seen, PRICES.nam5)).toMatchObject({ writes: 1_000_001, reads: 2 });
  expect(billOf(seen, PRICES.nam5).dollars).toBeCloseTo(1.8 + 0.4, 4);
});

test("publishes that nobody saw are paid for, and shards that were folded since do not make what was before dearer", () => {
  const large = { shardCount: 100, shardDocuments: 100 };
  const before = see(
    see(NOTHING_SEEN, published(0, large)),
    published(60_000, { ...large, writes: 1_000, publishes: 9 }),
  );
  expect(billOf(before, PRICES.nam5)).toMatchObject({ writes: 1_009, reads: 909, calls: 10 + 2 * 9 });
  const after = see(before, published(61_000, { writes: 1_000, publishes: 10 }));
  expect(billOf(after, PRICES.nam5)).toMatchObject({ writes: 1_010, reads: 911, calls: 10 + 2 * 10 });
});

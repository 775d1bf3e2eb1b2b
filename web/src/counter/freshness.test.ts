import { expect, test } from "vitest";
import { FreshnessLog } from "./freshness.ts";

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
  log.pause();
  log.published(9_000, 9_100);
  expect(log.get()).toEqual({ median: 1_100, p95: 1_100 });
});

test.each([3_600_000, -3_600_000])("a clock that is wrong by %s ms does not matter", (wrong) => {
  const log = new FreshnessLog();
  log.published(0, 60_000 + wrong);
  log.published(100_000, 100_000 + wrong);
  log.acknowledged([100_100 + wrong, 101_500 + wrong]);
  log.published(101_000, 101_010 + wrong);
  expect(log.get()?.median).toBe(910);
});

test("increments that are acknowledged after the last total are late, until a total arrives or the page is hidden", () => {
  const log = new FreshnessLog();
  log.published(1_000, 1_000);
  log.acknowledged([1_100]);
  expect(log.late).toBeUndefined();
  log.acknowledged([4_000, 5_000]);
  expect(log.late).toEqual({ since: 4_000, count: 2 });
  // The same total once more, after a new connection.
  log.published(1_000, 5_500);
  expect(log.late?.count).toBe(2);
  log.published(4_500, 6_000);
  expect(log.late).toBeUndefined();
  log.acknowledged([9_000]);
  log.pause();
  expect(log.late).toBeUndefined();
});

test("without any total, every acknowledged increment is late", () => {
  const log = new FreshnessLog();
  log.acknowledged([1_000]);
  expect(log.late).toEqual({ since: 1_000, count: 1 });
});

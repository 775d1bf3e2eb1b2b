import { Timestamp } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { eachWindow } from "../../core/src/index.ts";
import type { ListedShard } from "../../firestore/src/index.ts";
import { type CounterReading, type PublishedReport, reportOf } from "./counterReport.ts";

const NOW = 1_700_000_000_000;
const before = (millis: number) => Timestamp.fromMillis(NOW - millis);

const shard = (id: string, writes: number, ageMillis: number) => ({
  id,
  count: writes,
  writes,
  updatedAt: before(ageMillis),
});

const published = (total: number, ageMillis: number): PublishedReport => ({
  total,
  asOf: before(ageMillis).toDate().toISOString(),
  rate: 1,
  writes: total,
  shardCount: 2,
  phase: "idle",
  nextPollAt: null,
  calmSince: null,
  slowSince: null,
  countedCollection: null,
  windows: eachWindow(() => 0),
});

function report(shards: ListedShard[], reading: Partial<CounterReading> = {}, malformed: string[] = []) {
  const sum = shards.reduce((all, { count }) => all + count, 0);
  return reportOf({
    id: "likes:post42",
    published: null,
    direct: null,
    measurement: {
      total: sum,
      overflows: false,
      writes: sum,
      asOf: before(0),
      documents: shards.length + malformed.length,
      shards,
      malformed,
    },
    countedDocuments: null,
    entries: 0,
    visitors: null,
    source: null,
    nextReconcileAt: null,
    latestCorrection: null,
    ...reading,
  });
}

test("the difference is the exact sum minus the published total, whose age is told", () => {
  const { difference, ageMillis } = report([shard("0", 12, 100)], { published: published(10, 3_000) });
  expect({ difference, ageMillis }).toEqual({ difference: 2, ageMillis: 3_000 });
});

test("direct increments are in the exact total; a counter that clients alone have written has a total without an age", () => {
  const direct = { open: true, generation: 0, marks: 3, count: 3, writes: 3 };
  const some = report([shard("7", 2, 100)], { published: { ...published(3, 0), asOf: null }, direct });
  expect(some).toMatchObject({ exact: { total: 5 }, difference: 2, ageMillis: null, direct, warnings: [] });
  expect(some.shards.surplus).toBe(0);
});

test("sums of fractions may differ in the last digit", () => {
  const fractions = [0.1, 0.2, 0.3].map((count, i) => ({ ...shard(`${i}`, 1, 100_000), count }));
  const { difference, warnings } = report(fractions, { published: published(0.3 + 0.2 + 0.1, 90_000) });
  expect({ difference, warnings }).toEqual({ difference: 0, warnings: [] });
});

test("the exact total of a counter of documents is their number, whatever its shards say", () => {
  const { exact, difference, warnings, reads } = report([shard("0", 5, 100_000)], {
    published: { ...published(7, 90_000), countedCollection: "posts/42/comments" },
    countedDocuments: 8,
  });
  expect({ total: exact.total, difference, warnings, reads }).toEqual({
    total: 8,
    difference: 1,
    warnings: [],
    reads: 2 + 1 + 1 + 1,
  });
});

test("surplus shards are those beyond the shard count; without a shard count there are none", () => {
  const shards = [shard("0", 1, 0), shard("1", 1, 0), shard("7", 1, 0), shard("base", 1, 0)];
  expect(report(shards, { published: published(5, 0) }).shards.surplus).toBe(1);
  expect(report(shards).shards.surplus).toBe(0);
});

test("the five shards with the most writes are listed, the busiest first", () => {
  const shards = [3, 1, 4, 1, 5, 9].map((writes, i) => shard(`${i}`, writes, 0));
  expect(report(shards).shards.busiest.map(({ writes }) => writes)).toEqual([9, 5, 4, 3, 1]);
});

test("it costs one read per shard, one per thousand entries, and two more", () => {
  expect(report([]).reads).toBe(2 + 1 + 1);
  expect(report([shard("0", 1, 0)], { entries: 2_001 }, ["x"]).reads).toBe(2 + 2 + 3);
});

describe("a warning is given", () => {
  const warnings = (...args: Parameters<typeof report>) => report(...args).warnings.join();

  test("if writes are not published after a minute, not earlier", () => {
    expect(warnings([shard("0", 12, 61_000)], { published: published(10, 70_000) })).toContain("look at their log");
    expect(warnings([shard("0", 12, 59_000)], { published: published(10, 70_000) })).toBe("");
  });

  test("if no total was ever published", () => {
    expect(warnings([shard("0", 12, 61_000)])).toContain("deployed");
    const byClients = { ...published(0, 0), asOf: null };
    expect(warnings([shard("0", 12, 61_000)], { published: byClients })).toContain("deployed");
  });

  test("if the sum has changed without a write", () => {
    expect(warnings([shard("0", 9, 20_000)], { published: published(10, 10_000) })).toContain("by hand");
  });

  test("about malformed shards, and not otherwise", () => {
    expect(warnings([shard("0", 10, 20_000)], { published: published(10, 10_000) }, ["1"])).toContain("not a number");
    expect(warnings([shard("0", 10, 20_000)], { published: published(10, 10_000) })).toBe("");
  });
});

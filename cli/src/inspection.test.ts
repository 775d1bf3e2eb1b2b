import { Timestamp } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import type { ListedShard } from "../../admin/src/sum.ts";
import { type Findings, inspectionOf, type PublishedReport } from "./inspection.ts";

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
});

function inspection(shards: ListedShard[], findings: Partial<Findings> = {}, malformed: string[] = []) {
  const sum = shards.reduce((all, { count }) => all + count, 0);
  return inspectionOf({
    id: "likes:post42",
    published: null,
    measurement: {
      total: sum,
      writes: sum,
      asOf: before(0),
      documents: shards.length + malformed.length,
      shards,
      malformed,
    },
    entries: 0,
    source: null,
    nextReconcileAt: null,
    latestCorrection: null,
    ...findings,
  });
}

test("the difference is what the exact sum has and the published total has not, and how old that is", () => {
  const { difference, ageMillis } = inspection([shard("0", 12, 100)], { published: published(10, 3_000) });
  expect({ difference, ageMillis }).toEqual({ difference: 2, ageMillis: 3_000 });
});

test("surplus shards are those beyond the shard count; without one nobody knows", () => {
  const shards = [shard("0", 1, 0), shard("1", 1, 0), shard("7", 1, 0), shard("base", 1, 0)];
  expect(inspection(shards, { published: published(5, 0) }).shards.surplus).toBe(1);
  expect(inspection(shards).shards.surplus).toBe(0);
});

test("the five with the most writes are named, the busiest first", () => {
  const shards = [3, 1, 4, 1, 5, 9].map((writes, i) => shard(`${i}`, writes, 0));
  expect(inspection(shards).shards.busiest.map(({ writes }) => writes)).toEqual([9, 5, 4, 3, 1]);
});

test("its cost is one read per shard, one per thousand entries, and two", () => {
  expect(inspection([]).reads).toBe(2 + 1 + 1);
  expect(inspection([shard("0", 1, 0)], { entries: 2_001 }, ["x"]).reads).toBe(2 + 2 + 3);
});

describe("a warning is given", () => {
  const warnings = (...args: Parameters<typeof inspection>) => inspection(...args).warnings.join();

  test("if writes are not counted after a minute, and not before", () => {
    expect(warnings([shard("0", 12, 61_000)], { published: published(10, 70_000) })).toContain("look at their log");
    expect(warnings([shard("0", 12, 59_000)], { published: published(10, 70_000) })).toBe("");
  });

  test("if nothing was ever published", () => {
    expect(warnings([shard("0", 12, 61_000)])).toContain("deployed");
  });

  test("if the sum has changed without a write", () => {
    expect(warnings([shard("0", 9, 20_000)], { published: published(10, 10_000) })).toContain("by hand");
  });

  test("of malformed shards, and of nothing where all is well", () => {
    expect(warnings([shard("0", 10, 20_000)], { published: published(10, 10_000) }, ["1"])).toContain("no number");
    expect(warnings([shard("0", 10, 20_000)], { published: published(10, 10_000) })).toBe("");
  });
});

import { Timestamp } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { Random } from "../../../core/testing/random.ts";
import { CLEANING, expiredSlots, shardsToClean } from "./markCleaning.ts";

const NOW = 1_800_000_000_000;
const slot = (secondsAgo: number, marks: number) => ({
  at: Timestamp.fromMillis(NOW - secondsAgo * 1_000),
  nonces: Array.from({ length: marks }, () => new Uint8Array(5)),
});

describe("which shards a publish looks at", () => {
  const random = new Random(1, 2, 3);
  const looks = (before: number, after: number, shardCount = 10_000) =>
    shardsToClean(CLEANING.standard, before, after, shardCount, () => random.next());

  test("are one for every 512 writes of the counter, and at most 20", () => {
    expect(looks(0, 511)).toEqual([]);
    expect(looks(511, 512)).toHaveLength(1);
    expect(looks(512, 1_023)).toEqual([]);
    expect(looks(100, 5 * 512).length).toBeGreaterThan(3);
    expect(looks(0, 1e6).length).toBeLessThanOrEqual(20);
  });

  test("are one for every 16 writes on Enterprise", () => {
    expect(shardsToClean(CLEANING.enterprise, 0, 15, 10, () => 0)).toEqual([]);
    expect(shardsToClean(CLEANING.enterprise, 15, 16, 10, () => 0)).toEqual(["0"]);
  });

  test("are any of those that writers choose from", () => {
    const seen = new Set<string>();
    for (let n = 0; n < 200; n++) for (const id of looks(n * 512, (n + 1) * 512, 3)) seen.add(id);
    expect([...seen].sort()).toEqual(["0", "1", "2"]);
  });
});

describe("the slots that a look removes", () => {
  test("are those whose last write is more than two minutes old", () => {
    expect(expiredSlots({ 0: slot(121, 90), 1: slot(119, 900), 3: slot(9_999, 90) }, NOW, CLEANING.standard)).toEqual([
      "0",
      "3",
    ]);
  });

  test("are none while they have at most 100 marks in all, so that a look seldom costs a write", () => {
    expect(expiredSlots({ 0: slot(121, 50), 1: slot(121, 50) }, NOW, CLEANING.standard)).toEqual([]);
  });

  test.each([undefined, {}, { 0: {} }, { 0: { at: null } }, { x: slot(999, 900) }])("are none of %o", (marks) => {
    expect(expiredSlots(marks as never, NOW, CLEANING.standard)).toEqual([]);
  });
});

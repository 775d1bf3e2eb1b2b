import { Timestamp } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { Random } from "../../core/testing/random.ts";
import { expiredWindows, shardsToLookAt } from "./cleanMarks.ts";

const NOW = 1_800_000_000_000;
const window = (secondsAgo: number, marks: number) => ({
  at: Timestamp.fromMillis(NOW - secondsAgo * 1_000),
  nonces: Array.from({ length: marks }, () => new Uint8Array(5)),
});

describe("which shards a publish looks at", () => {
  test("are one for every 512 writes on average, and at most 20", () => {
    const random = new Random(1, 2, 3);
    const looksIn = (writes: number, times: number) => {
      let looks = 0;
      for (let n = 0; n < times; n++) looks += shardsToLookAt(writes, 10_000, () => random.next()).length;
      return looks;
    };
    expect(looksIn(1, 51_200)).toBeGreaterThan(50);
    expect(looksIn(1, 51_200)).toBeLessThan(150);
    expect(looksIn(5_120, 1)).toBeGreaterThanOrEqual(9);
    expect(looksIn(1e6, 1)).toBeLessThanOrEqual(20);
  });

  test("are any of those that writers choose from", () => {
    const random = new Random(4, 5, 6);
    const seen = new Set<string>();
    for (let n = 0; n < 200; n++) for (const id of shardsToLookAt(512, 3, () => random.next())) seen.add(id);
    expect([...seen].sort()).toEqual(["0", "1", "2"]);
  });
});

describe("the windows that a look removes", () => {
  test("are those whose last write is more than two minutes old", () => {
    expect(expiredWindows({ 0: window(121, 90), 1: window(119, 900), 3: window(9_999, 90) }, NOW)).toEqual(["0", "3"]);
  });

  test("are none while they have at most 100 marks in all, so that a look seldom costs a write", () => {
    expect(expiredWindows({ 0: window(121, 50), 1: window(121, 50) }, NOW)).toEqual([]);
  });

  test.each([undefined, {}, { 0: {} }, { 0: { at: null } }, { x: window(999, 900) }])("are none of %o", (marks) => {
    expect(expiredWindows(marks as never, NOW)).toEqual([]);
  });
});

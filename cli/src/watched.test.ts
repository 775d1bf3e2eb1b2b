import { describe, expect, test } from "vitest";
import { describeProblem, partsOf, problemOf, toJson, type WatchedCounter } from "./watched.ts";

const NOW = Date.parse("2026-03-04T12:00:00Z");
const window = (until: string, total: number) => ({ until: { seconds: Date.parse(until) / 1_000 }, total });

const watched: WatchedCounter = {
  total: 1_217,
  globalTotal: null,
  windows: null,
  rate: 3.4,
  shardCount: 4,
  isOpen: false,
  asOf: NOW - 500,
  changedAt: NOW - 400,
  nextPollAt: NOW + 9_500,
};

const windows = {
  timeZone: "UTC",
  day: window("2026-03-05T00:00:00Z", 38),
  week: window("2026-03-09T00:00:00Z", 266),
  month: window("2026-04-01T00:00:00Z", 1_140),
};

describe("the line", () => {
  const line = (changes: Partial<WatchedCounter>, now = NOW) => partsOf({ ...watched, ...changes }, now).join(" · ");

  test("has the total, the rate, the shards and the age", () => {
    expect(line({})).toBe("1,217 · 3.4 writes/s · 4 shards · 0.5 s ago");
    expect(line({ shardCount: 1 })).toContain(" · 1 shard · ");
  });

  test("has what was counted today while the day lasts", () => {
    expect(line({ windows })).toContain("1,217 · 38 today · ");
    expect(line({ windows }, NOW + 12 * 3_600_000)).toContain("1,217 · 0 today · ");
  });

  test("has the total of all regions first", () => {
    expect(line({ globalTotal: 3_410 })).toMatch(/^3,410 in all regions · 1,217 here · /);
  });

  test("of an open counter has the age of the last write, and no rate", () => {
    expect(line({ isOpen: true, asOf: NOW - 9e8 })).toBe("1,217 · 4 shards · 0.4 s ago");
  });

  test("says that there is no total", () => {
    expect(line({ total: null })).toBe("no total yet; waiting for the first increment");
    expect(partsOf(null, NOW)).toEqual(["waiting for Firestore"]);
  });
});

describe("a problem is", () => {
  const problem = (changes: Partial<WatchedCounter>, waited = 0) => {
    const found = problemOf({ ...watched, ...changes }, waited, NOW);
    return found && describeProblem(found);
  };

  test("a measurement that is more than 5 s overdue", () => {
    expect(problem({ nextPollAt: NOW - 5_000 })).toBeNull();
    expect(problem({ nextPollAt: NOW - 24_000 })).toBe(
      "a measurement is overdue by 24 s; run `npx firestore-tally doctor`",
    );
  });

  test("not the age of a total: no poll is scheduled without a write", () => {
    expect(problem({ asOf: NOW - 9e8, nextPollAt: null })).toBeNull();
  });

  test("no answer for more than 5 s, which leaves open whether anything is overdue", () => {
    expect(problem({ nextPollAt: NOW - 24_000 }, 12_000)).toBe(
      "no answer from Firestore for 12 s; check the connection",
    );
    expect(problemOf(null, 5_001, NOW)?.kind).toBe("unanswered");
    expect(problemOf(null, 5_000, NOW)).toBeNull();
  });
});

test("JSON has the whole numbers, times in ISO 8601, and the problem", () => {
  expect(toJson("likes:a", { ...watched, windows }, { kind: "overdue", millis: 6_000 }, NOW)).toEqual({
    at: "2026-03-04T12:00:00.000Z",
    id: "likes:a",
    total: 1_217,
    globalTotal: null,
    windows: { day: 38, week: 266, month: 1_140 },
    rate: 3.4,
    shardCount: 4,
    open: false,
    asOf: "2026-03-04T11:59:59.500Z",
    nextPollAt: "2026-03-04T12:00:09.500Z",
    problem: "overdue",
  });
});

test("JSON has null for what is not known before the first answer", () => {
  expect(toJson("likes:a", null, null, NOW)).toEqual({
    at: "2026-03-04T12:00:00.000Z",
    id: "likes:a",
    total: null,
    globalTotal: null,
    windows: null,
    rate: null,
    shardCount: null,
    open: null,
    asOf: null,
    nextPollAt: null,
    problem: null,
  });
});

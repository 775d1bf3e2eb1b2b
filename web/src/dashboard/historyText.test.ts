import { afterAll, beforeAll, expect, test } from "vitest";
import { eachWindow } from "../../../core/src/index.ts";
import { bucketsOf, knownHistory } from "./buckets.ts";
import { describeColumns, describeDay, describeLine, describeMonth } from "./historyText.ts";
import { hoursOfDay, recentDays, timeOf } from "./periods.ts";

const { TZ } = process.env;
beforeAll(() => {
  process.env.TZ = "UTC";
});
afterAll(() => {
  if (TZ === undefined) delete process.env.TZ;
  else process.env.TZ = TZ;
});

const NOW = Date.UTC(2026, 10, 21, 14, 20);
const HOUR = 3_600_000;
const MIDNIGHT = Date.UTC(2026, 10, 21);

/** @param points  the total at a time, and what its day had counted by then */
function wordsOf(points: readonly (readonly [at: number, total: number, day?: number])[], now = NOW) {
  const history = knownHistory(
    points.map(([at, total, day = 0]) => {
      return { at: new Date(at), total, shardCount: 1, windows: { ...eachWindow(() => 0), day } };
    }),
    undefined,
    (at) => (points[0]?.[2] === undefined ? undefined : hoursOfDay(at)[0]),
  );
  const today = bucketsOf(history, hoursOfDay(now), now);
  return {
    today,
    day: describeDay(history, today, bucketsOf(history, hoursOfDay(now, 7), now)),
    month: describeMonth(history, bucketsOf(history, recentDays(now), now)),
  };
}

const WEEK = 7 * 24 * HOUR;

test("today is compared with the last week up to the last full hour", () => {
  const points = [
    [MIDNIGHT - 40 * 24 * HOUR, 500],
    [MIDNIGHT - WEEK + HOUR, 1_480],
    [NOW - WEEK, 1_700],
    [NOW - HOUR, 2_850],
    [NOW, 2_904],
  ] as const;
  expect(wordsOf(points)).toMatchObject({
    day: "1,204 today. By 14:00: 1,150, and 980 by then a week ago.",
    month: "2,404 in 30 days. Most on Nov 21: 1,204.",
  });
  expect(wordsOf(points, MIDNIGHT + HOUR / 2).day).toBe("0 today.");
  expect(describeColumns(wordsOf(points).today, timeOf, "Added")).toBe(
    "Added: highest 1,150 (13:00), latest 54 (14:00).",
  );
});

test.each([
  [
    "nothing",
    [],
    "Nothing was published in this period, or HISTORY does not name its group.",
    "Nothing was published in this period, or HISTORY does not name its group.",
  ],
  [
    "one total",
    [[NOW, 1_217, 217]],
    "217 today. Only the total at 14:20 is known, 1,217. More follow if HISTORY names this group. The column at 14:00 holds all that was added since 00:00.",
    "217 today. Only the total on Nov 21 is known, 1,217. More follow if HISTORY names this group.",
  ],
  [
    "a history that begins today",
    [
      [NOW - HOUR, 1_217, 217],
      [NOW, 1_220, 220],
    ],
    "220 today. History begins at 13:20 with 1,217. The column at 13:00 holds all that was added since 00:00.",
    "220 today. History begins on Nov 21 with 1,217.",
  ],
  [
    "one that begins in the first hour of today",
    [
      [MIDNIGHT + HOUR / 3, 17, 17],
      [NOW, 20, 20],
    ],
    "20 today. History begins at 00:20 with 17.",
    "20 today. History begins on Nov 21 with 17.",
  ],
  [
    "one whose first total does not tell its day",
    [
      [NOW - HOUR, 1_217],
      [NOW, 1_220],
    ],
    "History begins at 13:20 with 1,217. What was added before is not known.",
    "History begins on Nov 21 with 1,217. What was added before is not known.",
  ],
  [
    "one that begins yesterday",
    [
      [NOW - 24 * HOUR, 1_217],
      [NOW, 1_210],
    ],
    "-7 today. The same day last week is not known.",
    "-7 today. History begins on Nov 20 with 1,217. What was added before is not known.",
  ],
  [
    "one with a single total, before the period",
    [[MIDNIGHT - 31 * 24 * HOUR, 5]],
    "0 today. By 14:00: 0, and 0 by then a week ago.",
    "0 in 30 days.",
  ],
] as const)("of %s, the words say what is not known", (_, points, day, month) => {
  expect(wordsOf(points)).toMatchObject({ day, month });
});

test("a line is described by its first, last and highest value", () => {
  expect(describeLine("Total", [null, 3, 9, 4, null])).toBe("Total: from 3 to 4, at most 9.");
  expect(describeLine("Total", [null])).toBe("Total: not known.");
});

import fc from "fast-check";
import { Timestamp } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { type CounterWindows, eachWindow } from "../../../../core/src/index.ts";
import { idle } from "../../../testing/arbitraries.ts";
import { measured, T } from "../../../testing/situations.ts";
import { decide } from "../../counter/decide.ts";
import { planPublish } from "../../counter/nextPublished.ts";
import type { CounterConfig, Published } from "../../counter/types.ts";
import { DEFAULT_CONFIG } from "../../deploy/defaultConfig.ts";
import { parseWindows } from "./windows.ts";
import { nextWindows, windowEnds } from "./windowsPlan.ts";

const defaults: CounterConfig = { ...DEFAULT_CONFIG, windows: { groups: "all", timeZone: "UTC" } };

const ends = (at: string, timeZone: string) => {
  const { day, week, month } = windowEnds(Date.parse(at), timeZone);
  return [day, week, month].map((end) => new Date(end).toISOString().slice(0, 16));
};

describe("windows end at midnight", () => {
  test.each<[at: string, timeZone: string, day: string, week: string, month: string]>([
    // A Sunday, the last second of a day and a week, and the first of the next.
    ["2026-11-22T23:59:59.999Z", "UTC", "2026-11-23T00:00", "2026-11-23T00:00", "2026-12-01T00:00"],
    ["2026-11-23T00:00:00.000Z", "UTC", "2026-11-24T00:00", "2026-11-30T00:00", "2026-12-01T00:00"],
    ["2026-12-31T12:00:00.000Z", "UTC", "2027-01-01T00:00", "2027-01-04T00:00", "2027-01-01T00:00"],
    // A day of 23 hours.
    ["2026-03-28T23:30:00.000Z", "Europe/Berlin", "2026-03-29T22:00", "2026-03-29T22:00", "2026-03-31T22:00"],
    // Clocks went from 23:59 to 01:00.
    ["2018-11-03T12:00:00.000Z", "America/Sao_Paulo", "2018-11-04T03:00", "2018-11-05T02:00", "2018-12-01T02:00"],
    ["2018-11-04T03:00:00.000Z", "America/Sao_Paulo", "2018-11-05T02:00", "2018-11-05T02:00", "2018-12-01T02:00"],
    // An offset, which tests use.
    ["2026-01-01T00:04:59.999Z", "-00:05", "2026-01-01T00:05", "2026-01-05T00:05", "2026-01-01T00:05"],
  ])("%s in %s", (at, timeZone, ...wanted) => {
    expect(ends(at, timeZone)).toEqual(wanted);
  });

  test("at any instant: the calendar shows the same day until then, and another one from there", () => {
    const zones = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/Havana"];
    fc.assert(
      fc.property(fc.integer({ min: 1.6e12, max: 2.2e12 }), fc.constantFrom(...zones), (at, timeZone) => {
        const date = new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short" });
        const { day, week, month } = windowEnds(at, timeZone);
        const [today, tomorrow] = [date.format(day - 1), date.format(day)];
        expect([date.format(at), date.format(at) < tomorrow]).toEqual([today, true]);
        expect([new Date(date.format(week)).getUTCDay(), week - at <= 7 * 86_400_000 + 3_600_000]).toEqual([1, true]);
        expect([date.format(month).slice(8), date.format(month - 1).slice(0, 7)]).toEqual(["01", today.slice(0, 7)]);
        expect(Math.min(day, week, month)).toBeGreaterThan(at);
      }),
    );
  });
});

describe("I11: a publish counts in the windows of its instant", () => {
  const [morning, evening, tomorrow] = ["23T08:00:00Z", "23T23:59:59Z", "24T00:00:00Z"].map((at) =>
    Date.parse(`2026-11-${at}`),
  ) as [number, number, number];
  const totals = (windows: CounterWindows<number> | null) => windows && [windows.day.total, windows.week.total];

  test("what is new since the last one, and begins a window again that is over", () => {
    const first = nextWindows(null, 3, morning, "UTC");
    const second = nextWindows(first, 4, evening, "UTC");
    const third = nextWindows(second, -2, tomorrow, "UTC");
    expect([first, second, third].map(totals)).toEqual([
      [3, 3],
      [7, 7],
      [-2, 5],
    ]);
  });

  test("nothing new leaves the windows as they are, even if they are over", () => {
    const first = nextWindows(null, 3, morning, "UTC");
    expect(nextWindows(first, 0, tomorrow, "UTC")).toBe(first);
    expect(nextWindows(null, 0, tomorrow, "UTC")).toBeNull();
  });

  test("another time zone begins the windows again that end at another instant", () => {
    const first = nextWindows(null, 3, morning, "UTC");
    expect(nextWindows(first, 1, morning, "Europe/Berlin")).toMatchObject({
      timeZone: "Europe/Berlin",
      day: { total: 1, until: Date.parse("2026-11-23T23:00:00Z") },
    });
  });

  const after = (total: number, state: { previous?: Published; adjusted?: number }, path?: string) => {
    const measurement = measured(idle, T, { total, writes: 50 });
    const collectionCount = path === undefined ? undefined : { path, reads: 1 };
    const known = { previous: state.previous, adjusted: state.adjusted };
    return planPublish(
      { at: T, isPoll: false },
      known,
      { ...measurement, ...(collectionCount && { collectionCount }) },
      defaults,
    ).next;
  };

  test("the whole of a first total, without what servers have added", () => {
    expect(after(50, {}).windows?.day.total).toBe(50);
    expect(after(50, { adjusted: 45 }).windows?.day.total).toBe(5);
    expect(after(50, { adjusted: 50 }).windows).toBeNull();
  });

  test("the difference of two totals, without resets and corrections", () => {
    expect(after(50, { previous: idle }).windows?.day.total).toBe(8);
    expect(after(5, { previous: idle, adjusted: -42 }).windows?.day.total).toBe(5);
  });

  test("of a counted collection without adjustments, which do not change it", () => {
    expect(after(100, { adjusted: 60 }, "posts").windows?.day.total).toBe(100);
  });

  test("not what rounding explains", () => {
    const shards = 10.12 + 56;
    const previous = { ...idle, total: shards };
    expect(after(7, { previous, adjusted: 7 - shards }).windows).toBeNull();
  });

  test("nothing of a total that follows a damaged document", () => {
    const ahead = { ...idle, asOf: T + 3_600_000 };
    const measurement = measured(idle, T, { total: 5_000_000, writes: 50 });
    const step = decide({ at: T, isPoll: false }, { previous: ahead, measurement }, T, 0, defaults);
    expect(step).toMatchObject({ do: "publish", next: { total: 5_000_000, windows: null } });
  });

  test("not the difference of two kinds of totals", () => {
    expect(after(50, { previous: idle }, "posts").windows).toBeNull();
    expect(after(50, { previous: { ...idle, collectionCount: { path: "posts", reads: 1 } } }).windows).toBeNull();
    expect(
      after(50, { previous: { ...idle, collectionCount: { path: "posts", reads: 1 } } }, "posts").windows?.day.total,
    ).toBe(8);
  });
});

test.each<[what: string, windows: unknown, parsed: unknown]>([
  ["is missing", undefined, null],
  ["is a text", "today", null],
  ["has no time zone", { day: { until: new Timestamp(1, 0), total: 5 } }, null],
  [
    "has no week, and no number for the month",
    { timeZone: "UTC", day: { until: new Timestamp(1, 0), total: 5 }, month: { until: 5, total: Number.NaN } },
    { timeZone: "UTC", ...eachWindow(() => ({ until: 0, total: 0 })), day: { until: 1_000, total: 5 } },
  ],
])("begins windows again where a server has damaged them: the map %s", (_what, windows, parsed) => {
  expect(parseWindows(windows)).toEqual(parsed);
});

import { describe, expect, test } from "vitest";
import { type Crowd, listenersPerDay, totalsPerDay } from "./reading.ts";

const crowd = (readers: number, period = 1): Crowd => ({ readers, interval: 1, period, answerBytes: 400 });

test("a listener pays a read a second", () => {
  expect(listenersPerDay(crowd(1))).toBeCloseTo(86_400 * 0.6e-6);
  expect(listenersPerDay({ readers: 1_000, interval: 10 })).toBeCloseTo(100 * 86_400 * 0.6e-6);
});

describe("pages that ask", () => {
  test("pay for bytes when they are many, so that ten times fewer requests are ten times cheaper", () => {
    expect(totalsPerDay(crowd(1e7)) / 1e7).toBeCloseTo((86_400 * 400 * 0.15) / 1e9, 4);
    expect(totalsPerDay(crowd(1e7)) / totalsPerDay(crowd(1e7, 10))).toBeCloseTo(10, 1);
  });

  test("are cheaper than listeners from about a hundred on, and an instance that runs all day is dearer than ten listeners", () => {
    for (const readers of [150, 1e3, 1e5, 1e7]) {
      expect(totalsPerDay(crowd(readers))).toBeLessThan(listenersPerDay(crowd(readers)));
    }
    expect(totalsPerDay(crowd(10))).toBeGreaterThan(listenersPerDay(crowd(10)));
  });
});

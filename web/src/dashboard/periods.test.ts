import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { dateOf, historyFrom, hoursOfDay, isMidnightIn, MOST_READS, recentDays, timeOf } from "./periods.ts";

const { TZ } = process.env;
afterEach(() => {
  if (TZ === undefined) delete process.env.TZ;
  else process.env.TZ = TZ;
});

const HOUR = 3_600_000;
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "America/St_Johns"];

test("in every time zone, now is in today and in the last of 30 days, and periods follow each other without a gap", () => {
  const instants = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) });
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), instants, (zone, now) => {
      process.env.TZ = zone;
      const hours = hoursOfDay(now);
      const days = recentDays(now);
      expect(hours[0]).toBeLessThanOrEqual(now);
      expect(hours[24]).toBeGreaterThan(now);
      expect(days.slice(-2)).toEqual([hours[0], hours[24]]);
      expect(days[22]).toBe(hoursOfDay(now, 7)[0]);
      expect(hoursOfDay(now, 1)[24]).toBe(hours[0]);
      for (const all of [hours, days]) expect(all).toEqual([...all].sort((a, b) => a - b));
      for (const at of [...hours, ...days]) expect(at % HOUR).toBe(0);
      const utcDays = new Set(
        Array.from({ length: 40 * 24 }, (_, n) => +historyFrom(now) + n * HOUR)
          .filter((at) => at < now)
          .map((at) => new Date(at).toISOString().slice(0, 10)),
      );
      expect(+historyFrom(now)).toBeLessThanOrEqual((days[0] as number) - 24 * HOUR);
      expect(1 + utcDays.size).toBeLessThanOrEqual(MOST_READS);
    }),
  );
});

test("a day of 23 hours has an empty one, and a day of 25 hours has a long one", () => {
  process.env.TZ = "Europe/Berlin";
  const lengths = (day: Date) => {
    const hours = hoursOfDay(day.getTime());
    return hours.slice(1).map((end, hour) => (end - (hours[hour] ?? 0)) / HOUR);
  };
  expect(lengths(new Date(2026, 2, 29, 12)).slice(0, 5)).toEqual([1, 1, 0, 1, 1]);
  expect(lengths(new Date(2026, 9, 25, 12)).slice(0, 5)).toEqual([1, 1, 2, 1, 1]);
});

test("hours and days are named by the clock", () => {
  process.env.TZ = "Asia/Kolkata";
  const lateInTheEvening = Date.UTC(2026, 10, 20, 18, 10);
  const hours = hoursOfDay(lateInTheEvening);
  expect(hours[0]).toBe(Date.UTC(2026, 10, 20, 18));
  expect(timeOf(hours[0] as number)).toBe("23:30");
  expect(dateOf(hours[0] as number)).toBe("Nov 21");
  expect(isMidnightIn("Asia/Kolkata", hours[0] as number)).toBe(false);
  process.env.TZ = "Europe/Berlin";
  const [midnight = 0] = hoursOfDay(Date.UTC(2026, 10, 20, 12));
  expect([timeOf(midnight), timeOf(midnight, true), dateOf(midnight)]).toEqual(["00:00", "24:00", "Nov 20"]);
  expect(["Europe/Berlin", "UTC", "Nowhere"].map((zone) => isMidnightIn(zone, midnight))).toEqual([true, false, false]);
});

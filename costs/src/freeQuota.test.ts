import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyTraffic } from "../testing/arbitraries.ts";
import { billOf } from "./bill.ts";
import { freeDollars } from "./freeQuota.ts";
import { freeInstanceDollars, instanceDollars } from "./instances.ts";
import { monthlyCosts } from "./monthlyCosts.ts";
import { ENTERPRISE_PRICES, PRICES } from "./prices.ts";

const free = (operations: object, databases = 1) => freeDollars({ operations, seconds: 0, databases }, PRICES.nam5);

describe("free are", () => {
  test("so many operations of a database a day, and no more than there are", () => {
    expect(free({ read: 1e9 })).toBeCloseTo(30 * 50_000 * 0.6e-6, 9);
    expect(free({ write: 1e9 })).toBeCloseTo(30 * 20_000 * 1.8e-6, 9);
    expect(free({ delete: 1e9 })).toBeCloseTo(30 * 20_000 * 0.2e-6, 9);
    expect(free({ read: 7, write: 7 })).toBeCloseTo(7 * 2.4e-6, 12);
  });

  test("2 million invocations and half a million tasks, of two operations each, a month", () => {
    expect(free({ invocation: 1e9 })).toBeCloseTo(0.8, 9);
    expect(free({ task: 1e9 })).toBeCloseTo(0.4, 9);
  });

  test("units of the Enterprise edition a day", () => {
    const operations = { readUnit: 1e9, writeUnit: 1e9, realtimeUnit: 1e9 };
    const expected = 30 * (50_000 * 0.05e-6 + 40_000 * 0.26e-6 + 50_000 * 0.3e-6);
    expect(freeDollars({ operations, seconds: 0 }, ENTERPRISE_PRICES.regional)).toBeCloseTo(expected, 9);
  });

  test("those of one database, of several that share the traffic; functions are free for all together", () => {
    expect(free({ read: 1e6 }, 4)).toBeCloseTo(0.25 * 0.6, 9);
    expect(free({ read: 1e9 }, 4)).toBeCloseTo(free({ read: 1e9 }), 9);
    expect(free({ invocation: 1e9 }, 4)).toBeCloseTo(0.8, 9);
  });

  test("180,000 seconds of a CPU and 360,000 of a GiB, of which an instance takes a half", () => {
    expect(freeInstanceDollars(1_000)).toBe(instanceDollars(1_000));
    expect(freeInstanceDollars(1e9)).toBeCloseTo(180_000 * 24e-6 + 360_000 * 2.5e-6, 9);
    expect(freeInstanceDollars(360_000)).toBeCloseTo(180_000 * 24e-6 + 180_000 * 2.5e-6, 9);
  });
});

describe("a bill", () => {
  test("is what is listed, and functions' time, less what is free: never negative, and never less without a free quota", () => {
    fc.assert(
      fc.property(anyTraffic, (traffic) => {
        const bill = billOf(monthlyCosts(traffic, PRICES.nam5), PRICES.nam5);
        expect(bill.dollars).toBeGreaterThan(-1e-6);
        expect(bill.freeQuota).toBeLessThanOrEqual(bill.listPrices + bill.cpuAndMemory + 1e-6);
      }),
    );
  });

  test("has no free quota for what a TTL policy deletes", () => {
    const costs = monthlyCosts(
      {
        ...{ perSecond: 1, peakPerSecond: 1, peakHours: 24, counters: 1, once: 0 },
        ...{ watchers: 0, readsPerDay: 0, perClient: 0, batch: 100 },
      },
      PRICES.nam5,
    );
    const items = costs.items.map((item) => ({ ...item, id: item.id === "expiredReceipts" ? "foldDeletes" : item.id }));
    const expired = costs.items.find(({ id }) => id === "expiredReceipts")?.dollars ?? 0;
    expect(expired).toBeGreaterThan(0);
    const [due, deducted] = [costs, { ...costs, items }].map((one) => billOf(one as typeof costs, PRICES.nam5));
    expect((due?.dollars ?? 0) - (deducted?.dollars ?? 0)).toBeCloseTo(expired, 9);
  });
});

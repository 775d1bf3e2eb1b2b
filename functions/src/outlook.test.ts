import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyConfig, anyCounter, defaults, idle } from "./config.fixture.ts";
import { isPolled, judge, nextPoll, type Outlook, outlookOf, type Verdict } from "./outlook.ts";

describe("what to do about a write", () => {
  const outlooks = {
    "never published": undefined,
    unpolled: { coveredUntil: 1_000, due: 2_000 },
    polled: { coveredUntil: 3_000, due: 2_000 },
  } satisfies Record<string, Outlook | undefined>;
  const clocks = { "before due": 1_999, "when due": 2_000 };

  type Row = Record<keyof typeof clocks, Verdict>;
  type Committed = 1_000 | 1_001 | 2_000 | 2_001 | 3_000 | 3_001;
  const always = (verdict: Verdict): Row => ({ "before due": verdict, "when due": verdict });
  const scheduled = (scheduleAt: number): Row => ({ "before due": { scheduleAt }, "when due": "aggregate" });

  const verdicts: Record<keyof typeof outlooks, Record<Committed, Row>> = {
    "never published": {
      1000: always("aggregate"),
      1001: always("aggregate"),
      2000: always("aggregate"),
      2001: always("aggregate"),
      3000: always("aggregate"),
      3001: always("aggregate"),
    },
    unpolled: {
      1000: always("covered"),
      1001: scheduled(2_000),
      2000: scheduled(2_000),
      2001: scheduled(2_001),
      3000: scheduled(3_000),
      3001: scheduled(3_001),
    },
    polled: {
      1000: always("covered"),
      1001: always("covered"),
      2000: always("covered"),
      2001: always("covered"),
      3000: always("covered"),
      3001: scheduled(3_001),
    },
  };

  for (const [name, outlook] of Object.entries(outlooks)) {
    for (const [committedAt, row] of Object.entries(verdicts[name as keyof typeof outlooks])) {
      for (const [clock, verdict] of Object.entries(row)) {
        test(`${name}, committed at ${committedAt}, seen ${clock}: ${JSON.stringify(verdict)}`, () => {
          expect(judge(Number(committedAt), outlook, clocks[clock as keyof typeof clocks])).toEqual(verdict);
        });
      }
    }
  }
});

describe("the outlook", () => {
  const margin = 50;

  test("of a counter nobody polls covers what is counted, less what a snapshot may lag behind", () => {
    const { coveredUntil, due } = outlookOf(idle, margin, defaults);
    expect([coveredUntil - idle.asOf, due - idle.asOf]).toEqual([-margin, defaults.minInterval]);
  });

  test("of a polled counter covers up to the second measurement that is certain to follow", () => {
    const busy = { ...idle, rate: 100, total: 500_000 };
    const { coveredUntil, due } = outlookOf(busy, margin, { ...defaults, minInterval: 2_000 });
    expect([coveredUntil - busy.asOf, due - busy.asOf]).toEqual([7_000, 5_000]);
  });

  test("is polled from two writes expected in an interval", () => {
    expect([1.99, 2].map((rate) => isPolled({ ...idle, rate }, defaults))).toEqual([false, true]);
    expect([0.19, 0.2].map((rate) => isPolled({ ...idle, rate, total: 1e6 }, defaults))).toEqual([false, true]);
  });

  test("is polled as long as there are shards whose writes wake nobody, however few", () => {
    const silent = { ...idle, silentShards: 3 };
    expect(isPolled(silent, defaults)).toBe(true);
    const { coveredUntil, due } = outlookOf(silent, margin, defaults);
    expect([coveredUntil - idle.asOf, due - idle.asOf]).toEqual([2_000, 1_000]);
  });

  describe("after a poll that found nothing new, the next is after the longest interval", () => {
    const seconds = (shardCount: number, passed: number) =>
      (nextPoll({ ...idle, shardCount, silentShards: 3 }, idle.asOf + passed * 1_000, defaults) - idle.asOf) / 1_000;

    test("as long as writers spread over shards that wake nobody", () => {
      const next = [0, 1, 9.999, 10, 10.001, 29, 30].map((passed) => seconds(2, passed));
      expect(next).toEqual([10, 10, 10, 20, 20, 30, 40]);
    });

    test("and then after twice as many each time, once there may be stragglers at most", () => {
      const next = [0, 1, 9.999, 10, 19, 20, 39, 40, 70, 80, 320, 639].map((passed) => seconds(1, passed));
      expect(next).toEqual([10, 10, 10, 20, 20, 40, 40, 80, 80, 160, 640, 640]);
    });

    test("at an instant that is still to come", () => {
      fc.assert(
        fc.property(anyCounter, anyConfig, fc.integer({ min: 0, max: 1e9 }), (counter, config, later) => {
          const next = nextPoll(counter, counter.asOf + later, config) - counter.asOf;
          return next > later && next <= Math.max(2 * later, config.maxInterval) + 1;
        }),
      );
    });
  });

  test("never makes a publish due before the shortest interval, nor after the longest", () => {
    fc.assert(
      fc.property(anyCounter, anyConfig, (counter, config) => {
        const { due } = outlookOf(counter, margin, config);
        return due >= counter.asOf + config.minInterval && due <= counter.asOf + config.maxInterval;
      }),
    );
  });
});

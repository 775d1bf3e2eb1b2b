import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyConfig, anyCounter, defaults, idle } from "./config.fixture.ts";
import { toTimestamp } from "./counter.ts";
import type { Measurement } from "./measure.ts";
import { isPolled } from "./outlook.ts";
import { isNews, nextPublished } from "./publish.ts";

/** What is measured `seconds` after `idle` was published, if nobody wrote since; or else what `changes` say. */
function measured(seconds: number, changes: Partial<Measurement> = {}): Measurement {
  return {
    total: idle.total,
    writes: idle.writes,
    asOf: toTimestamp(idle.asOf + seconds * 1_000),
    shards: [shard("0")],
    malformed: [],
    ...changes,
  };
}

function shard(id: string, updatedAt = idle.asOf - 30_000) {
  return { id, count: 1, writes: 1, updatedAt: toTimestamp(updatedAt) };
}

describe("the next publish", () => {
  test("says what was measured, and when", () => {
    const next = nextPublished(idle, measured(5, { total: -7.5, malformed: ["3"] }), defaults);
    expect(next).toMatchObject({ total: -7.5, asOf: idle.asOf + 5_000, malformed: ["3"] });
  });

  test("has the rate since the publish before it", () => {
    expect(nextPublished(idle, measured(5, { writes: idle.writes + 20 }), defaults).rate).toBe(4);
    expect(nextPublished(idle, measured(0.5, { writes: idle.writes + 20 }), defaults).rate).toBe(40);
    expect(nextPublished(idle, measured(5), defaults).rate).toBe(0);
    expect(nextPublished(idle, measured(0, { writes: idle.writes + 20 }), defaults).rate).toBe(20_000);
  });

  test("has the rate that is stored, to six digits, so that every instance concludes the same from it", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.integer({ min: 1, max: 1e6 }), (writes, milliseconds) => {
        const { rate } = nextPublished(idle, measured(milliseconds / 1_000, { writes }), defaults);
        return rate === Number(rate.toPrecision(6));
      }),
    );
  });

  test("counts no fewer writes than before, and its rate is finite and not negative, whatever was measured", () => {
    fc.assert(
      fc.property(
        anyCounter,
        anyConfig,
        fc.maxSafeNat(),
        fc.integer({ min: -10, max: 1_000 }),
        (before, config, writes, s) => {
          const asOf = toTimestamp(before.asOf + s * 1_000);
          const next = nextPublished(before, measured(0, { writes, asOf }), config);
          return next.writes === Math.max(before.writes, writes) && next.rate >= 0 && Number.isFinite(next.rate);
        },
      ),
    );
  });

  test("of a counter that never was has no rate, the fewest shards, and counts what was there before", () => {
    const next = nextPublished(undefined, measured(0, { writes: 1_000 }), { ...defaults, minShards: 5 });
    expect(next).toEqual({ ...idle, writes: 1_000, shardCount: 5, growing: true, publishes: 1 });
  });

  test("scales at once, and remembers since when it has been calm", () => {
    expect(nextPublished(idle, measured(1, { writes: idle.writes + 100 }), defaults).shardCount).toBe(150);
    const wide = { ...idle, shardCount: 50 };
    expect(nextPublished(wide, measured(1), defaults)).toMatchObject({ shardCount: 50, calmSince: idle.asOf + 1_000 });
    expect(nextPublished(wide, measured(30), defaults)).toMatchObject({ shardCount: 1, calmSince: null });
  });

  test("of one that slept grows by what came since it woke, as if it went on for a second", () => {
    const woken = (seconds: number, ago: number) => {
      const measurement = measured(seconds, { writes: idle.writes + 20 });
      return nextPublished(idle, measurement, defaults, idle.asOf + seconds * 1_000 - ago);
    };
    expect(woken(3_600, 20)).toMatchObject({ shardCount: 30, rate: 0.00555556 });
    expect(woken(3_600, 5_000)).toMatchObject({ shardCount: 6 });
    const measurement = measured(3_600, { writes: idle.writes + 20 });
    expect(nextPublished(idle, measurement, defaults)).toMatchObject({ shardCount: 1 });
    expect(nextPublished(undefined, measurement, defaults)).toMatchObject({ shardCount: 1 });
  });

  test.each<[why: string, unsettled: boolean, shards: string[], writes: number, shardCount: number]>([
    ["it is idle, small and folded", false, ["base", "0"], 0, 1],
    ["less than a write is expected in the longest interval", false, ["0"], 0.99, 1],
    ["a write is expected in the longest interval", true, ["0"], 1, 1],
    ["it has more than the fewest shards", true, ["0"], 0, 2],
    ["a shard is not folded yet", true, ["0", "1"], 0, 1],
    ["there is a document that is no client's shard", true, ["0", "imported"], 0, 1],
  ])("because %s, the sweep should look again: %j", (_why, unsettled, shards, writes, shardCount) => {
    const measurement = measured(10, { writes: idle.writes + writes, shards: shards.map((id) => shard(id)) });
    expect(nextPublished({ ...idle, shardCount }, measurement, defaults).unsettled).toBe(unsettled);
  });
});

test.each<[ids: string[], malformed: string[], silentShards: number]>([
  [["0", "base"], [], 0],
  [["0", "1", "2"], [], 2],
  [["9999"], [], 1],
  [["0"], ["1"], 0],
  [["0", "imported"], [], 0],
])("with shards %j, malformed %j, so many are silent: %i", (ids, malformed, silentShards) => {
  const measurement = measured(10, { shards: ids.map((id) => shard(id)), malformed });
  expect(nextPublished(idle, measurement, defaults).silentShards).toBe(silentShards);
});

describe("the next publish of a counter that counts a collection", () => {
  const counting = (seconds: number, total: number, changes: Partial<Measurement> = {}) =>
    measured(seconds, { total, writes: 7_777, recount: { reads: Math.ceil(total / 1_000) }, ...changes });

  test("has as many writes as its count has moved by, up or down, and the rate of that", () => {
    expect(nextPublished(idle, counting(5, idle.total + 20), defaults)).toMatchObject({ writes: 62, rate: 4 });
    expect(nextPublished(idle, counting(5, idle.total - 20), defaults)).toMatchObject({ writes: 62, rate: 4 });
    expect(nextPublished(idle, counting(5, idle.total), defaults)).toMatchObject({ writes: 42, rate: 0 });
    expect(nextPublished(undefined, counting(5, 30), defaults)).toMatchObject({ writes: 30, rate: 0 });
  });

  test("I3: counts no fewer writes than before, whatever was counted", () => {
    fc.assert(
      fc.property(anyCounter, anyConfig, fc.maxSafeNat(), (before, config, total) => {
        const next = nextPublished(before, counting(60, total), config);
        return next.writes >= before.writes && Number.isFinite(next.rate);
      }),
    );
  });

  test("needs no shards, however fast it grows, and whatever it had when it was an ordinary counter", () => {
    const before = { ...idle, shardCount: 50, calmSince: idle.asOf };
    expect(nextPublished(before, counting(1, 100_000), defaults)).toMatchObject({ shardCount: 1, calmSince: null });
  });

  test("says what it cost to measure: a read per shard and per 1,000 documents", () => {
    expect(nextPublished(idle, counting(1, 1_001), defaults).shardDocuments).toBe(3);
    expect(nextPublished(idle, counting(1, 0), defaults).shardDocuments).toBe(1);
  });

  test("of a polled one is always news: either the count has moved, or its rate falls to zero", () => {
    const polled = fc
      .tuple(anyCounter, anyConfig)
      .filter(([counter, config]) => isPolled(counter, config) && Number.isSafeInteger(counter.total));
    const moved = fc.oneof(fc.constant(0), fc.integer());
    fc.assert(
      fc.property(polled, moved, ([before, config], by) => {
        const measurement = counting(0, before.total + by, { asOf: toTimestamp(before.asOf + 60_000) });
        return isNews(before, nextPublished(before, measurement, config), measurement);
      }),
    );
  });
});

describe("a publish is news", () => {
  const newsOf = (measurement: Measurement, previous: typeof idle | undefined = idle) =>
    isNews(previous, nextPublished(previous, measurement, defaults), measurement);

  test("if it is the first, of a counter that has a shard; one that was deleted does not come back", () => {
    const first = (measurement: Measurement) =>
      isNews(undefined, nextPublished(undefined, measurement, defaults), measurement);
    expect(first(measured(0))).toBe(true);
    expect(first(measured(0, { shards: [], malformed: ["0"] }))).toBe(true);
    expect(first(measured(0, { total: 0, writes: 0, shards: [] }))).toBe(false);
  });

  test("but not if no shard was written since the last and nothing it says has changed", () => {
    expect(newsOf(measured(100))).toBe(false);
    expect(newsOf(measured(100), { ...idle, busyMinute: true })).toBe(false);
    expect(
      newsOf(measured(100, { malformed: ["x"] }), { ...idle, malformed: ["x"], unsettled: true, shardDocuments: 2 }),
    ).toBe(false);
  });

  test("if a shard was written since, even if the total is the same", () => {
    expect(newsOf(measured(100, { shards: [shard("0"), shard("1", idle.asOf + 1)] }))).toBe(true);
    expect(newsOf(measured(100, { shards: [shard("0", idle.asOf)] }))).toBe(false);
  });

  test("always, of a collection: whoever measured before must not come after", () => {
    const counting = measured(100, { recount: { reads: 0 } });
    expect(newsOf(counting)).toBe(true);
    const nothing = measured(0, { total: 0, writes: 0, shards: [], recount: { reads: 0 } });
    expect(isNews(undefined, nextPublished(undefined, nothing, defaults), nothing)).toBe(true);
  });

  test.each<[what: string, before: Partial<typeof idle>]>([
    ["total", { total: 41 }],
    ["writes", { writes: 41 }],
    ["rate", { rate: 1 }],
    ["shardCount", { shardCount: 2, calmSince: 0 }],
    ["calmSince", { shardCount: 2 }],
    ["unsettled", { unsettled: true }],
    ["silentShards", { silentShards: 1 }],
    ["shardDocuments", { shardDocuments: 2 }],
    ["malformed", { malformed: ["x"] }],
  ])("if it says another %s", (_what, before) => {
    expect(newsOf(measured(100), { ...idle, ...before })).toBe(true);
  });
});

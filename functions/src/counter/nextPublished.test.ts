import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyCounter, idle } from "../../testing/arbitraries.ts";
import { inWords, measured, T } from "../../testing/situations.ts";
import { DEFAULT_CONFIG as defaults } from "../deploy/defaultConfig.ts";
import type { Cause } from "./cause.ts";
import { decide } from "./decide.ts";
import { toTimestamp } from "./fields.ts";
import type { Measurement } from "./measurement.ts";
import type { Published, Reserved } from "./types.ts";

describe("a reservation", () => {
  const step = (at: number, shards = 40, config = defaults) => {
    const written = measured(idle, at, { total: 43, writes: 43 });
    const reservation = { shards, until: T + 60_000 };
    return inWords(decide({ at, isPoll: false }, { previous: idle, reservation, measurement: written }, at, 0, config));
  };
  test("sets the fewest shards while it holds", () => {
    expect([step(T + 59_999), step(T + 60_000)]).toEqual(["publish idle of 40", "publish idle of 1"]);
  });
  test("is no demand: it makes the counter neither busy nor growing", () => {
    const written = measured(idle, T + 59_999, { total: 43, writes: 43 });
    const known = { previous: idle, reservation: { shards: 40, until: T + 60_000 }, measurement: written };
    const step = decide({ at: T + 59_999, isPoll: false }, known, T + 59_999, 0, defaults);
    expect(step).toMatchObject({ next: { shardCount: 40, growing: false, rate: 0.0166668 } });
  });
  test("is at most MAX_SHARDS", () => {
    expect(step(T + 1_000, 40, { ...defaults, maxShards: 7 })).toBe("publish idle of 7");
    expect(step(T + 1_000, 2, { ...defaults, minShards: 5 })).toBe("publish idle of 5");
  });
});

describe("a counter grows by a burst", () => {
  const shardsAfter = (previous: Published | undefined, cause: Partial<Cause>, writes: number, asOf: number) => {
    const known = { previous, measurement: measured(idle, asOf, { total: writes, writes }) };
    const step = decide({ at: asOf, isPoll: false, shardId: "0", ...cause }, known, asOf, 0, defaults);
    return step.do === "publish" ? step.next.shardCount : undefined;
  };

  test("after an hour without writes: twenty writes are measured against the time since the first, at least 250 ms", () => {
    const hour = T + 3_600_000;
    expect(shardsAfter(idle, { at: hour - 20 }, 62, hour)).toBe(120);
    expect(shardsAfter(idle, { at: hour - 5_000 }, 62, hour)).toBe(6);
    expect(shardsAfter(idle, { at: hour - 20, isPoll: true }, 62, hour)).toBe(1);
  });

  test("that contains its first write; otherwise it is not known since when there were writes", () => {
    expect(shardsAfter(undefined, { isNew: true }, 20, T)).toBe(120);
    expect(shardsAfter(undefined, {}, 20, T)).toBe(1);
  });

  test("whose first publish finds new shards that contention has made, whichever of them wakes the functions", () => {
    const crowd = measured({ ...idle, shardDocuments: 62 }, T, { total: 119, writes: 119 });
    const first = (cause: Partial<Cause>, reservation?: Reserved) => {
      const step = decide(
        { at: T - 2_000, isPoll: false, ...cause },
        { previous: undefined, reservation, measurement: crowd },
        T,
        0,
        defaults,
      );
      return step.do === "publish" ? step.next : undefined;
    };
    expect(first({ isNew: true, shardId: "0" })).toMatchObject({ shardCount: 89, growing: true, phase: "busy" });
    expect(first({ isNew: true, shardId: "7" })).toMatchObject({ shardCount: 90, growing: true, phase: "busy" });
    // These shards may be old.
    expect(first({ isNew: false, shardId: "0" })).toMatchObject({ shardCount: 1 });
    expect(first({ isNew: true, shardId: "base" })).toMatchObject({ shardCount: 1 });
    expect(first({ isPoll: true })).toMatchObject({ shardCount: 1 });
    // Clients know of these, because they are reserved.
    const reservation = { shards: 80, until: T + 60_000 };
    expect(first({ isNew: true, shardId: "7" }, reservation)).toMatchObject({
      shardCount: 80,
      growing: true,
      phase: "scattered",
    });
  });
});

test.each([
  ["never published", undefined, 1],
  ["published before", idle, 43],
])("one write of a shard after eight calm hours in the document is no crowd: %s", (_, previous, writes) => {
  const at = T + 8 * 3_600_000;
  // At 0.01 writes per second.
  const times = { lastWrite: at - 60_000, lastWriteOfAll: at - 60_000, lastWriteBefore: at - 460_000 };
  const direct = { open: true, generation: 71, count: 288, marks: 4, ...times };
  const measurement = measured(idle, at, { total: writes, writes, documents: 1 });
  const known = { previous, direct, measurement };
  const step = decide({ at: at - 100, isPoll: false, isNew: !previous, shardId: "0" }, known, at, 0, defaults);
  const next = step.do === "publish" ? step.next : undefined;
  expect(next).toMatchObject({ total: 288 + writes, directCount: 288, writes, shardCount: 1, phase: "idle" });
  expect(next?.rate).toBeLessThan(0.001);
});

test("a new counter may grow a moment later, and so may one that has just grown", () => {
  const growing = (previous: Published | undefined, at: number, total: number) => {
    const known = { previous, measurement: measured(idle, at, { total, writes: total }) };
    const cause = previous ? { at, isPoll: true } : { at: at - 20, isPoll: false, shardId: "0", isNew: true };
    const step = decide(cause, known, at, 0, defaults);
    if (step.do !== "publish") throw new Error(step.do);
    return { next: step.next, growing: step.next.growing };
  };
  const first = growing(undefined, T, 1);
  const burst = growing(first.next, T + 1_000, 30);
  expect([first.growing, burst.growing, growing(burst.next, T + 2_000, 60).growing]).toEqual([true, true, false]);
  expect(first.next.shardCount).toBe(1);
});

describe("a counter that counts a collection", () => {
  const counting = (total: number, at: number): Measurement => ({
    total,
    writes: 0,
    documents: 0,
    asOf: toTimestamp(at),
    collectionCount: { path: "posts", reads: Math.max(Math.ceil(total / 1_000), 1) },
  });
  const before: Published = { ...idle, shardDocuments: 0, collectionCount: { path: "posts", reads: 1 } };
  const publish = (previous: Published | undefined, total: number, seconds: number) => {
    const at = T + seconds * 1_000;
    const step = decide({ at, isPoll: false }, { previous, measurement: counting(total, at) }, at, 0, defaults);
    return step.do === "publish" ? step.next : undefined;
  };

  test("is published even if its count has not changed, so that an older measurement cannot be published later", () => {
    expect(publish(before, before.total, 5)).toMatchObject({ total: 42, writes: 42, publishes: 8 });
    expect(publish(undefined, 0, 0)).toMatchObject({ total: 0, collectionCount: { path: "posts" } });
  });

  test("has as many writes as its count has changed, up or down, never fewer than before", () => {
    expect([62, 22, 42].map((total) => publish(before, total, 5)?.writes)).toEqual([62, 62, 42]);
    expect(publish(undefined, 30, 0)).toMatchObject({ writes: 30, rate: 0 });
    fc.assert(
      fc.property(anyCounter, fc.maxSafeNat(), (counter, total) => {
        const at = counter.asOf + 10_000_000;
        const known = { previous: counter, measurement: counting(total, at) };
        const step = decide({ at, isPoll: true }, known, at, 0, defaults);
        if (step.do !== "publish") throw new Error(step.do);
        return step.next.writes >= counter.writes && Number.isFinite(step.next.rate);
      }),
    );
  });

  test("needs no shards, at any rate, and after any shard count", () => {
    const ordinary = { ...idle, shardCount: 50, calmSince: T };
    expect(publish(ordinary, 100_000, 1)).toMatchObject({ shardCount: 1, calmSince: null, phase: "busy" });
  });

  test("stores the cost of counting, and is counted less often if it is high", () => {
    expect(publish(before, 42_000, 5)).toMatchObject({
      collectionCount: { reads: 42 },
      phase: "busy",
      nextPollAt: T + 5_000 + 8_400,
    });
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseNumShards } from "../../../../core/src/index.ts";
import { idle } from "../../../testing/arbitraries.ts";
import { inWords, measured, situations, T } from "../../../testing/situations.ts";
import type { Cause } from "../../counter/cause.ts";
import { decide } from "../../counter/decide.ts";
import { toTimestamp } from "../../counter/fields.ts";
import { planPublish } from "../../counter/nextPublished.ts";
import { shardSettingsOf } from "../../counter/shardSettings.ts";
import type { CounterConfig, Published } from "../../counter/types.ts";
import { DEFAULT_CONFIG as defaults } from "../../deploy/defaultConfig.ts";
import { withOldWrites } from "./adoptedPlan.ts";

const configured = (adopted: boolean): CounterConfig => ({
  ...defaults,
  windows: { groups: "all", timeZone: "UTC" },
  adopted,
});
const config = configured(true);
const poll = (at: number): Cause => ({ at, isPoll: true });
/** A counter with ten shards of old clients, and `base`. */
const adopted: Published = { ...idle, shardCount: 10, shardDocuments: 11 };

describe("the shards of old clients", () => {
  test.each([
    ["yes", { minShards: 10, keptShards: 10, triggerShards: 10 }],
    ["no", { minShards: 1, keptShards: 10, triggerShards: 1 }],
  ])("with ADOPTED=%s are used so: %j", (value, settings) => {
    expect(shardSettingsOf({ adopted: { numShards: 10 } }, configured(value === "yes"))).toMatchObject(settings);
    expect(shardSettingsOf({ adopted: { numShards: undefined } }, configured(value === "yes"))).toEqual(
      shardSettingsOf({}, defaults),
    );
  });

  test.each([
    [10, 10],
    [1, 1],
    [10_000, 10_000],
    [0, undefined],
    [10_001, undefined],
    [1.5, undefined],
    ["10", undefined],
    [undefined, undefined],
  ])("num_shards %j is understood as %j", (stored, numShards) => expect(parseNumShards(stored)).toBe(numShards));

  test.each([
    [{ adopted: true, numShards: 10 }, "fold from 10"],
    [{ adopted: false, numShards: 10 }, "fold from 10"],
    [{ adopted: true, numShards: undefined }, "fold from 1"],
  ])("are left by folds: %j", ({ adopted: isOn, numShards }, step) => {
    const cooling: Published = { ...(situations.cooling as Published), shardDocuments: 13 };
    const at = T + 600_000;
    const known = { previous: cooling, adopted: { numShards }, measurement: measured(cooling, at) };
    expect(inWords(decide(poll(T + 410_000), known, at, 0, configured(isOn)))).toBe(step);
  });

  test("I7: are no reason to poll a counter, but without ADOPTED they are", () => {
    const at = T + 1_000_000;
    const cause = { at, isPoll: false, shardId: "7", isNew: false };
    const known = {
      previous: adopted,
      adopted: { numShards: 10 },
      measurement: measured(adopted, at + 1, { total: 43 }),
    };
    expect(inWords(decide(cause, known, at + 1, 0, config))).toBe("publish idle of 10");
    expect(inWords(decide(cause, known, at + 1, 0, defaults))).toMatch(/^publish scattered of \d+, poll/);
  });
});

describe("the update of a silent shard", () => {
  const update = (at: number): Cause => ({ at, isPoll: false, shardId: "7", isNew: false });
  const step = (counter: Published | undefined, at: number) =>
    inWords(decide(update(at), { previous: counter }, at + 5, 0, config));

  test("of an idle counter is measured, as no poll would", () => {
    expect(step(adopted, T + 5_000)).toBe("measure");
    expect(step(undefined, T + 5_000)).toBe("measure");
  });

  test.each(["busy", "scattered", "quiet", "shrunk", "cooling"] as const)(
    "of a %s counter waits for its poll, and for none before it",
    (phase) => {
      const counter = situations[phase] as Published;
      const due = counter.nextPollAt as number;
      expect(step(counter, T + 4_000)).toBe("nothing");
      expect(step(counter, due)).toBe("nothing");
      expect(step(counter, due + 1)).not.toBe("nothing");
    },
  );

  test("is no other write: one of shard 0, or of a new shard, does not wait for a poll that may be late", () => {
    const counter = situations.cooling as Published;
    for (const cause of [{ shardId: "0", isNew: false }, { shardId: "7", isNew: true }, {}])
      expect(
        inWords(decide({ at: T + 4_000, isPoll: false, ...cause }, { previous: counter }, T + 4_005, 0, config)),
      ).toBe("measure");
  });
});

describe("how often old clients have written", () => {
  const state = (over: Partial<Published> = {}, numShards: number | undefined = 10) => ({
    published: { ...adopted, ...over },
    adopted: { numShards },
    adjusted: undefined,
  });
  const sum = (total: number, writes: number, after = 1_000) => measured(adopted, T + after, { total, writes });

  test("is what the count has gained beyond the writes that count themselves", () => {
    expect(withOldWrites(sum(42 + 5, 42 + 2), state(), config)).toEqual({ oldWrites: 3, writes: 47 });
    expect(withOldWrites(sum(42 + 2, 42 + 2), state(), config)).toEqual({});
    // An undo is a write of Tally's clients, which lowers the count.
    expect(withOldWrites(sum(42, 42 + 2), state(), config)).toEqual({});
  });

  test("goes on from what is known", () => {
    const later = state({ total: 50, writes: 50, adopted: { oldWrites: 8 } });
    expect(withOldWrites(sum(53, 43), later, config)).toEqual({ oldWrites: 10, writes: 53 });
    // The last old app is gone. `writes` must not fall.
    expect(withOldWrites(sum(53, 43), { ...later, adopted: { numShards: undefined } }, config)).toEqual({
      oldWrites: 8,
      writes: 51,
    });
  });

  test("is no more than their shards take, so that an import is no crowd", () => {
    expect(withOldWrites(sum(1_000_042, 43), state(), config)).toEqual({ oldWrites: 10, writes: 53 });
    const slow = { ...config, writesPerShard: 0.5 };
    expect(withOldWrites(sum(1_000_042, 43, 6_000), state(), slow)).toEqual({ oldWrites: 30, writes: 73 });
    expect(withOldWrites(sum(1_000_042, 43, 6_000_000), state(), slow)).toEqual({ oldWrites: 50, writes: 93 });
    expect(withOldWrites(sum(1_000_042, 42), { ...state(), adjusted: 1_000_000 }, config)).toEqual({});
  });

  test("I3: never makes writes fall", () => {
    const number = fc.nat(1_000);
    fc.assert(
      fc.property(number, number, number, number, fc.boolean(), (total, landed, old, gained, isAdopted) => {
        const before = { total, writes: landed + old, adopted: { oldWrites: old } };
        const found = sum(total + gained, landed);
        const next = { ...found, ...withOldWrites(found, state(before, isAdopted ? 10 : undefined), config) };
        expect(next.writes).toBeGreaterThanOrEqual(before.writes);
      }),
    );
  });
});

test("I11: what was counted before the first publish is in no window", () => {
  const found = { total: 5_000_003, writes: 0, documents: 10, asOf: toTimestamp(T) };
  const first = { published: undefined, adopted: { numShards: 10 }, adjusted: undefined };
  const measurement = { ...found, ...withOldWrites(found, first, config) };
  const planned = planPublish(
    poll(T),
    { previous: undefined, adopted: { numShards: 10 }, measurement },
    measurement,
    config,
  );
  expect({ added: planned.added, windows: planned.next.windows ?? null, total: planned.next.total }).toEqual({
    added: 0,
    windows: null,
    total: 5_000_003,
  });
  // A reset before it has recorded its part.
  expect(withOldWrites(found, { ...first, adjusted: 3 }, config)).toEqual({ imported: 5_000_000 });
  // Every other new counter counts from 0.
  expect(withOldWrites(found, { ...first, adopted: { numShards: undefined } }, config)).toEqual({});
});

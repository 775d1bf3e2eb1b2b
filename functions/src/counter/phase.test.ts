import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyConfig } from "../../testing/arbitraries.ts";
import { DEFAULT_CONFIG as defaults } from "../deploy/defaultConfig.ts";
import { MAX_TASK_DELAY } from "./cause.ts";
import { type Activity, isQuiet, nextPhase, PHASES, POLLED_PHASES, pollDelay } from "./phase.ts";
import type { Phase } from "./types.ts";

/** What a measurement may have found. */
type Found =
  | "two writes an interval"
  | "a fifth of a write an interval"
  | "a write"
  | "no write"
  | "no write for a minute"
  | "no write for 190 seconds"
  | "a write, all shards wake"
  | "no write, all shards wake";

const silent: Activity = { isWritten: false, quietFor: 0, rate: 0, interval: 1_000, hasSilentShards: true };
const activities: Record<Found, Activity> = {
  "two writes an interval": { ...silent, isWritten: true, rate: 2 },
  "a fifth of a write an interval": { ...silent, isWritten: true, rate: 0.2 },
  "a write": { ...silent, isWritten: true, rate: 0.199 },
  "no write": { ...silent, quietFor: 59_999 },
  "no write for a minute": { ...silent, quietFor: 60_000 },
  "no write for 190 seconds": { ...silent, quietFor: 190_000 },
  "a write, all shards wake": { ...silent, isWritten: true, rate: 1.999, hasSilentShards: false },
  "no write, all shards wake": { ...silent, quietFor: 190_000, hasSilentShards: false },
};

const always = {
  "two writes an interval": "busy",
  "a write": "scattered",
  "a write, all shards wake": "idle",
  "no write, all shards wake": "idle",
} as const;
/** Its rate is known, and its polls count what would wake nothing. */
const awake = { ...always, "a fifth of a write an interval": "busy" } as const;
/** Its average rate is not reliable yet. */
const asleep = { ...always, "a fifth of a write an interval": "scattered" } as const;
/** No write since the last poll; for how long before that, the counter says. */
const silence = {
  "no write": "quiet",
  "no write for a minute": "shrunk",
  "no write for 190 seconds": "cooling",
} as const;
/** Silent shards that were created since the last publish. */
const unknown = {
  "no write": "scattered",
  "no write for a minute": "scattered",
  "no write for 190 seconds": "scattered",
} as const;

const table: Record<Phase | "unpublished", Record<Found, Phase>> = {
  unpublished: { ...asleep, ...unknown },
  idle: { ...asleep, ...unknown },
  busy: { ...awake, ...silence },
  scattered: { ...awake, ...silence },
  quiet: { ...asleep, ...silence },
  shrunk: { ...asleep, ...silence },
  cooling: { ...asleep, ...silence },
};
const rows = Object.entries(table).flatMap(([before, found]) =>
  Object.entries(found).map(([what, after]) => [before, what, after] as const),
);

test.each(rows)("%s, %s → %s", (before, what, after) => {
  const phase = before === "unpublished" ? undefined : (before as Phase);
  expect(nextPhase(phase, activities[what as Found], defaults)).toBe(after);
});

describe("a counter is measured again", () => {
  interface At extends Partial<Activity> {
    readonly shardCount?: number;
    readonly isFoldDue?: boolean;
  }
  const seconds = (phase: Phase, at: At = {}, config = defaults) => {
    const delay = pollDelay(
      phase,
      { rate: 2, interval: 1_000, quietFor: 0, shardCount: 1, isFoldDue: false, ...at },
      config,
    );
    return delay === undefined ? "by the next write" : delay / 1_000;
  };
  type Delay = number | "by the next write";
  /** With one shard; with many, of which writers are told. */
  const delays: Record<Phase, [one: Delay, many: Delay]> = {
    idle: ["by the next write", "by the next write"],
    busy: [1, 1],
    scattered: [10, 10],
    quiet: [60, 10],
    shrunk: [190, 10],
    cooling: [600, 10],
  };
  test.each(Object.entries(delays))("with the defaults, if it is %s: %j", (phase, expected) => {
    expect([seconds(phase as Phase), seconds(phase as Phase, { shardCount: 3 })]).toEqual(expected);
  });

  test("when its next phase begins, by the time since it has been quiet", () => {
    expect(seconds("quiet", { quietFor: 10_000 })).toBe(50);
    expect(seconds("shrunk", { quietFor: 60_000 })).toBe(130);
    expect(seconds("cooling", { quietFor: 190_000 })).toBe(410);
    for (const phase of ["quiet", "shrunk"] as const) expect(seconds(phase, { quietFor: 1e9 }), phase).toBe(10);
  });

  test("rarely, once it is folded: the remaining shards could not be folded", () => {
    expect([599_999, 600_000].map((quietFor) => seconds("cooling", { quietFor }))).toEqual([10, 3_000]);
  });

  test("as soon as it may be, if a fold is due", () => {
    for (const phase of POLLED_PHASES)
      expect(seconds(phase, { isFoldDue: true, quietFor: 1e9, rate: 0.01 }), phase).toBe(1);
  });

  test("if it is busy, when a write is expected, at most after the longest interval", () => {
    expect([100, 0.5, 0.01].map((rate) => seconds("busy", { rate }))).toEqual([1, 2, 10]);
  });

  test("not before it may be published again", () => {
    for (const phase of POLLED_PHASES) expect(seconds(phase, { interval: 2_000_000 })).toBe(2_000);
  });

  test("sooner with a short cool-down, but not before the longest interval", () => {
    const quick = { ...defaults, shrinkCooldown: 20_000 };
    expect(PHASES.filter(isQuiet).map((phase) => seconds(phase, {}, quick))).toEqual([20, 40, 20]);
    for (const phase of PHASES.filter(isQuiet)) {
      expect(seconds(phase, {}, { ...quick, shrinkCooldown: 5_000 }), phase).toBe(10);
    }
  });

  test("no later than a task may be due, and no sooner than the interval, in every configuration", () => {
    const activity = fc.record({
      rate: fc.double({ min: 0, max: 1e6, noNaN: true }),
      quietFor: fc.nat(1e9),
      shardCount: fc.integer({ min: 1, max: 10_000 }),
      isFoldDue: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.constantFrom(...POLLED_PHASES), activity, anyConfig, fc.nat(), (phase, at, config, draw) => {
        const interval = Math.min(config.minInterval + draw, config.maxInterval);
        const delay = pollDelay(phase, { ...at, interval }, config) ?? 0;
        return delay >= interval && delay <= MAX_TASK_DELAY;
      }),
    );
  });
});

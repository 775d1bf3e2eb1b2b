import fc from "fast-check";
import type { DocumentSnapshot } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { anyConfig, anyCounter, idle } from "../../../testing/arbitraries.ts";
import { COUNTER, NEXT, publishing } from "../../../testing/publishing.ts";
import { serializeCounter } from "../../counter/counterDocument.ts";
import { toTimestamp } from "../../counter/fields.ts";
import type { CounterConfig, Published } from "../../counter/types.ts";
import { DEFAULT_CONFIG } from "../../deploy/defaultConfig.ts";
import { history, historyStateOf } from "./history.ts";
import { historyWrites, isMinuteInHistory } from "./historyPlan.ts";

const defaults: CounterConfig = { ...DEFAULT_CONFIG, history: { ...DEFAULT_CONFIG.history, groups: "all" } };
const at = (time: string) => Date.parse(`2026-11-${time}Z`);
const busy = (time: string): Published => ({ ...idle, rate: 5, history: { hasMinute: true }, asOf: at(time) });
const sparse = (time: string): Published => ({ ...idle, asOf: at(time) });
const idsOf = (previous: Published | undefined, next: Published, config = defaults) =>
  historyWrites(previous, next, config).map(({ id, key }) => `${id}/${key}`);

describe("a publish keeps the state it replaces", () => {
  test.each<[why: string, previous: Published | undefined, next: Published, kept: string[]]>([
    ["it is the first", undefined, busy("21T14:05:59"), []],
    ["it is of the same minute", busy("21T14:05:00"), busy("21T14:05:59.999"), []],
    ["it is of the next minute", busy("21T14:05:59.999"), busy("21T14:06:00"), ["minutes-2026-11-21T14/05"]],
    ["it is of a later minute", busy("21T14:05:01"), sparse("21T14:50:00"), ["minutes-2026-11-21T14/05"]],
    ["a sparse counter's is of a later minute", sparse("21T14:05:01"), busy("21T14:06:00"), []],
    ["a sparse counter's is of a later hour", sparse("21T14:05:01"), busy("21T15:00:00"), ["hours-2026-11-21/14"]],
    [
      "it is of another year",
      { ...busy("21T14:05:01"), asOf: Date.parse("2026-12-31T23:59:30Z") },
      { ...sparse("21T14:05:01"), asOf: Date.parse("2027-02-01T00:00:00Z") },
      ["minutes-2026-12-31T23/59", "hours-2026-12-31/23"],
    ],
  ])("if %s: %#", (_why, previous, next, kept) => {
    expect(idsOf(previous, next)).toEqual(kept);
    expect(idsOf(previous, next, DEFAULT_CONFIG)).toEqual([]);
  });

  test("as it was, until the configured number of days after the hour or the day its document is about", () => {
    const previous = busy("21T14:05:01");
    const day = 86_400_000;
    const kept = historyWrites(previous, busy("22T00:00:00"), {
      ...defaults,
      history: { groups: "all", retention: 7 * day },
    });
    expect(kept.map(({ state, expireAt }) => [state, expireAt])).toEqual([
      [previous, at("21T15:00:00") + 7 * day],
      [previous, at("22T00:00:00") + 7 * day],
    ]);
  });

  test("at most once for each minute and hour, and always the last of them", () => {
    const gaps = fc.array(fc.oneof(fc.integer({ min: 1, max: 30_000 }), fc.integer({ min: 1, max: 10_000_000 })));
    fc.assert(
      fc.property(anyCounter, anyConfig, gaps, (first, config, gaps) => {
        const kept = new Map<string, number>();
        const lastOfHour = new Map<number, number>();
        let previous = { ...first, history: { hasMinute: true } };
        for (const gap of gaps) {
          lastOfHour.set(Math.floor(previous.asOf / 3_600_000), previous.asOf);
          const next = { ...previous, asOf: previous.asOf + gap };
          for (const { id, key, state } of historyWrites(previous, next, {
            ...config,
            history: { ...DEFAULT_CONFIG.history, groups: "all" },
          })) {
            expect(kept.has(`${id}/${key}`)).toBe(false);
            kept.set(`${id}/${key}`, state.asOf);
          }
          previous = next;
        }
        lastOfHour.delete(Math.floor(previous.asOf / 3_600_000));
        const hours = [...kept].filter(([place]) => place.startsWith("hours")).map(([, asOf]) => asOf);
        expect(hours).toEqual([...lastOfHour.values()]);
      }),
    );
  });
});

describe("a minute gets a point in the history", () => {
  const rate = 1 / (defaults.maxInterval / 1_000);
  test.each<[why: string, expected: boolean, previous: Published | undefined, rate: number]>([
    ["a write is expected in the longest interval", true, undefined, rate],
    ["less is", false, undefined, rate * 0.99],
    ["writing has stopped since, in this minute", true, busy("21T14:05:01"), 0],
    ["writing stopped in an earlier one", false, busy("21T14:04:59"), 0],
    ["there was not much before, either", false, sparse("21T14:05:01"), 0],
  ])("if %s: %j", (_why, expected, previous, rate) => {
    expect(isMinuteInHistory(previous, { rate, asOf: at("21T14:05:30") }, defaults)).toBe(expected);
  });
});

test("the state that a publish replaces is written in its commit", async () => {
  const before = { ...idle, total: 41, asOf: NEXT.asOf - 3_600_000 };
  const { commits } = await publishing({ features: [history], published: before, config: defaults });
  const [[counter, kept] = []] = commits;
  expect([commits.length, counter?.[1]]).toEqual([1, COUNTER]);
  expect(kept).toMatchObject([
    ...["set", `${COUNTER}/tallyHistory/hours-2023-11-14`],
    ...[{ points: { 21: { total: 41 } } }, { merge: true }],
  ]);
});

test("a state is kept without what only the functions use", () => {
  fc.assert(
    fc.property(anyCounter, (counter) => {
      const { total, shardCount, writes, rate, publishes, asOf } = serializeCounter(
        "a",
        counter,
        toTimestamp(counter.asOf),
      );
      const { windows: _, ...kept } = historyStateOf(counter);
      expect(kept).toEqual({ total, shardCount, writes, rate, publishes, asOf });
    }),
  );
});

test("a damaged mark of its minute is none", () => {
  for (const wrong of [undefined, null, "true", 1])
    expect(history.parse?.({ get: () => wrong } as unknown as DocumentSnapshot)).toEqual({ hasMinute: false });
});

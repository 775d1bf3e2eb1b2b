import { describe, expect, test } from "vitest";
import { idle } from "../../testing/arbitraries.ts";
import { inWords, measured, rowsOf, type Situation, shard, situations, T } from "../../testing/situations.ts";
import { DEFAULT_CONFIG as defaults } from "../deploy/defaultConfig.ts";
import type { Cause } from "./cause.ts";
import { decide } from "./decide.ts";
import { toTimestamp } from "./fields.ts";
import type { Measurement } from "./measurement.ts";
import type { KnownState, Published } from "./types.ts";

describe("of a measurement", () => {
  /** What was found: by the poll if there is one, or else by an event. */
  type Found =
    | "nothing new, by a poll"
    | "nothing new, by an event in between"
    | "a write, by a poll"
    | "a write, by an event"
    | "a thousand writes"
    | "no shard but 0 and base"
    | "no shard at all";

  const knownOf = (found: Found, counter: Published | undefined): [Cause, KnownState] => {
    const before = counter ?? { ...idle, total: 0, writes: 0, shardDocuments: 3 };
    const due = counter?.nextPollAt ?? T + 10_000;
    const early = T + 5_000;
    const poll: Cause = { at: due, isPoll: true };
    const event = (at: number): Cause => ({ at, isPoll: false, shardId: "0" });
    const written = { total: before.total + 1, writes: before.writes + 1 };
    const many = { total: before.total + 1_000, writes: before.writes + 1_000 };
    const few = { documents: 2, shards: [shard("0"), shard("base")], malformed: [] };
    const none = { documents: 0, total: 0, writes: 0, shards: [], malformed: [] };
    const knowledge: Record<Found, [Cause, Measurement]> = {
      "nothing new, by a poll": [poll, measured(before, due)],
      "nothing new, by an event in between": [event(early), measured(before, early)],
      "a write, by a poll": [poll, measured(before, due, written)],
      "a write, by an event": [event(early), measured(before, early, written)],
      "a thousand writes": [event(early), measured(before, early, many)],
      "no shard but 0 and base": [poll, measured(before, due, few)],
      "no shard at all": [poll, measured(before, due, none)],
    };
    const [cause, measurement] = knowledge[found];
    return [cause, { previous: counter, measurement }];
  };

  /** What the publish says, and what it schedules first, in seconds after the last one. */
  const table: Record<Situation, Record<Found, string>> = {
    "never published": {
      "nothing new, by a poll": "publish scattered of 1, poll 20",
      "nothing new, by an event in between": "publish scattered of 1, poll 15",
      "a write, by a poll": "publish scattered of 1, poll 20",
      "a write, by an event": "publish scattered of 1, poll 15",
      "a thousand writes": "publish scattered of 1, poll 15",
      "no shard but 0 and base": "publish idle of 1",
      // A counter that was deleted does not come back.
      "no shard at all": "nothing",
    },
    idle: {
      "nothing new, by a poll": "publish idle of 1",
      "nothing new, by an event in between": "publish idle of 1",
      "a write, by a poll": "publish idle of 1",
      "a write, by an event": "publish idle of 1",
      "a thousand writes": "publish busy of 150, poll 6",
      "no shard but 0 and base": "publish idle of 1",
      "no shard at all": "publish idle of 1",
    },
    busy: {
      "nothing new, by a poll": "publish quiet of 150, poll 15",
      "nothing new, by an event in between": "nothing",
      "a write, by a poll": "publish busy of 150, poll 15",
      // Its poll counts the write.
      "a write, by an event": "nothing",
      "a thousand writes": "nothing",
      "no shard but 0 and base": "publish idle of 150",
      "no shard at all": "publish idle of 150",
    },
    scattered: {
      "nothing new, by a poll": "publish quiet of 3, poll 20",
      // That nothing was written is only said by a poll: an event may come late. It is published, but changes no phase.
      "nothing new, by an event in between": "publish scattered of 3, poll 10",
      "a write, by a poll": "publish scattered of 3, poll 20",
      "a write, by an event": "publish scattered of 3, poll 15",
      "a thousand writes": "publish busy of 150, poll 6",
      "no shard but 0 and base": "publish idle of 3",
      "no shard at all": "publish idle of 3",
    },
    quiet: {
      "nothing new, by a poll": "publish shrunk of 1, poll 140",
      "nothing new, by an event in between": "publish quiet of 3, poll 10",
      "a write, by a poll": "publish scattered of 3, poll 20",
      "a write, by an event": "publish scattered of 3, poll 15",
      "a thousand writes": "publish busy of 150, poll 6",
      "no shard but 0 and base": "publish idle of 3",
      "no shard at all": "publish idle of 3",
    },
    shrunk: {
      "nothing new, by a poll": "publish cooling of 1, poll 540",
      "nothing new, by an event in between": "publish shrunk of 1, poll 130",
      "a write, by a poll": "publish scattered of 1, poll 140",
      "a write, by an event": "publish scattered of 1, poll 15",
      "a thousand writes": "publish busy of 150, poll 6",
      "no shard but 0 and base": "publish idle of 1",
      "no shard at all": "publish idle of 1",
    },
    cooling: {
      "nothing new, by a poll": "fold from 1",
      "nothing new, by an event in between": "publish cooling of 1, poll 410",
      // Not because it has cooled down, but because a cool-down has gone by with shards beyond the count.
      "a write, by a poll": "fold from 1",
      "a write, by an event": "publish scattered of 1, poll 15",
      "a thousand writes": "publish busy of 150, poll 6",
      "no shard but 0 and base": "publish idle of 1",
      "no shard at all": "publish idle of 1",
    },
    "from the future": {
      "nothing new, by a poll": "publish idle of 1",
      "nothing new, by an event in between": "publish idle of 1",
      "a write, by a poll": "publish idle of 1",
      "a write, by an event": "publish idle of 1",
      "a thousand writes": "publish idle of 1",
      "no shard but 0 and base": "publish idle of 1",
      "no shard at all": "nothing",
    },
  };
  test.each(rowsOf(table))("%s: %s → %s", (situation, found, answer) => {
    const [cause, known] = knownOf(found as Found, situations[situation as Situation]);
    expect(inWords(decide(cause, known, T + 5_010, 0, defaults))).toBe(answer);
  });
});

test("a counter without shards is measured again when the snapshot is late enough, and no task is scheduled for it", () => {
  const measurement: Measurement = { total: 0, writes: 0, documents: 0, asOf: toTimestamp(T) };
  const step = (at: number, snapshotLag: number) =>
    inWords(decide({ at, isPoll: false }, { previous: undefined, measurement }, T + 100, snapshotLag, defaults));
  expect(step(T, 0)).toBe("nothing");
  expect(step(T + 20, 0)).toBe("wait 0.02");
  expect(step(T + 20, 50)).toBe("wait 0.07");
});

test("a fold is followed by a publish; shards that could not be folded are polled in 50 minutes", () => {
  const cooling = situations.cooling as Published;
  const cause: Cause = { at: T + 410_000, isPoll: true };
  const folded = measured(cooling, T + 601_000, { documents: 2, shards: [shard("0"), shard("base")] });
  const step = (measurement: Measurement, lastWritten?: number) =>
    inWords(decide(cause, { previous: cooling, measurement, folded: { lastWritten } }, T + 601_000, 0, defaults));
  expect(step(folded)).toBe("publish idle of 1");
  expect(step(measured(cooling, T + 601_000))).toBe("publish cooling of 1, poll 3601");
  // A shard was written while the others were about to be folded.
  const meanwhile = measured(cooling, T + 601_000, { writes: 43 });
  expect(step(meanwhile, T - 10_000)).toBe("publish scattered of 1, poll 602");
});

test.each([
  [{ malformed: ["1"] }, "fold from 1"],
  [{ malformed: ["base"] }, "publish cooling of 1, poll 3601"],
  // The index has summed the shards, so `base` was corrected.
  [{}, "fold from 1"],
])("with %j, a cooling counter whose base was malformed: %s", (found, expected) => {
  const cooling: Published = { ...(situations.cooling as Published), malformedShards: ["base"] };
  const measurement = measured(cooling, T + 601_000, found);
  const known = { previous: cooling, measurement };
  expect(inWords(decide({ at: T + 410_000, isPoll: true }, known, T + 601_000, 0, defaults))).toBe(expected);
});

test("a poll folds what is beyond the shard count when the cool-down is over; an event, or another poll, leaves it to one at once", () => {
  const [at, asOf] = [T + 10_000, T + 10_500];
  const step = (unusedSince: number | null, cause: Cause = { at, isPoll: true }, found: Partial<Measurement> = {}) => {
    const scattered: Published = { ...(situations.scattered as Published), shardDocuments: 5, unusedSince };
    const measurement = measured(scattered, asOf, { writes: 43, ...found });
    return decide(cause, { previous: scattered, measurement }, asOf, 0, defaults);
  };
  const quietSince = asOf - 600_000;
  expect(step(quietSince)).toEqual({ do: "fold", fromIndex: 3, quietSince, onlyEmpty: false });
  expect(inWords(step(quietSince + 1))).toBe("publish scattered of 3, poll 20.5");
  expect(inWords(step(null))).toBe("publish scattered of 3, poll 20.5");
  expect(inWords(step(quietSince, { at, isPoll: true }, { malformed: ["base"] }))).toBe(
    "publish scattered of 3, poll 20.5",
  );
  // Else each instance that is triggered meanwhile would fold, too.
  for (const other of [
    { at, isPoll: false },
    { at: at + 1, isPoll: true },
  ])
    expect(inWords(step(quietSince, other))).toBe("publish scattered of 3, poll 11.5");
});

test("the clock may be ahead of the database's: then it waits, and measures again", () => {
  const cause: Cause = { at: T + 500, isPoll: false };
  const step = (at: number) =>
    inWords(decide(cause, { previous: idle, measurement: measured(idle, at) }, T + 1_000, 0, defaults));
  expect(step(T + 990)).toBe("wait 0.01");
  expect(step(T + 1_000)).toBe("publish idle of 1");
});

test("a write that a measurement may have missed is measured again", () => {
  const cause: Cause = { at: T + 5_000, isPoll: false, shardId: "0" };
  const step = (asOf: number, updatedAt: number) =>
    inWords(
      decide(
        cause,
        { previous: idle, measurement: measured(idle, asOf, { shards: [shard("0", updatedAt)] }) },
        T + 5_010,
        50,
        defaults,
      ),
    );
  expect(step(T + 5_010, T)).toBe("wait 0.04");
  expect(step(T + 5_050, T)).toBe("publish idle of 1");
  expect(step(T + 5_010, T + 5_000)).toBe("publish idle of 1");
});

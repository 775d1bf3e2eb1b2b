import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ListedShard } from "../../admin/src/internal.ts";
import { anyConfig, anyCounter, defaults, idle } from "../testing/arbitraries.ts";
import { type Cause, LONGEST_DELAY } from "./cause.ts";
import { type Published, toTimestamp } from "./counterDocument.ts";
import { decide, type KnownState, type Step } from "./decide.ts";
import { publishInterval } from "./interval.ts";
import { includesWrite, type Measurement } from "./measurement.ts";
import { MAX_LISTED_SHARDS } from "./shards.ts";
import { toMillis } from "./time.ts";

const T = idle.asOf;

function shard(id: string, updatedAt = T - 1_000_000): ListedShard {
  return { id, count: 1, writes: 1, updatedAt: toTimestamp(updatedAt) };
}

/** What is measured at an instant: what `counter` says, but for `changes`. */
function measured(counter: Published, at: number, changes: Partial<Measurement> = {}): Measurement {
  const { total, writes, shardDocuments: documents } = counter;
  const shards = { shards: Array.from({ length: documents }, (_, index) => shard(`${index}`)), malformed: [] };
  return { total, writes, documents, asOf: toTimestamp(at), ...(documents <= MAX_LISTED_SHARDS && shards), ...changes };
}

/** A step in words, times after {@link T} in seconds. */
function inWords(step: Step): string {
  const seconds = (at: number) => `${(at - T) / 1_000}`;
  if (step.do === "schedule") return `schedule ${seconds(step.task.due)}`;
  if (step.do === "wait") return `wait ${step.duration / 1_000}`;
  if (step.do === "fold") return `fold from ${step.fromIndex}`;
  if (step.do !== "publish") return step.do;
  const tasks = step.tasks.map(({ due, isPoll }) => `, ${isPoll ? "poll" : "task"} ${seconds(due)}`);
  return `publish ${step.next.phase} of ${step.next.shardCount}${tasks.join("")}`;
}

/** A published counter at T. Its interval is a second, but for a busy one: five. */
type Situation = "never published" | "idle" | "busy" | "scattered" | "quiet" | "shrunk" | "cooling" | "from the future";

const polled = (phase: Published["phase"], after: number, more: Partial<Published> = {}): Published => ({
  ...idle,
  shardDocuments: 3,
  phase,
  nextPollAt: T + after,
  ...more,
});
const situations: Record<Situation, Published | undefined> = {
  "never published": undefined,
  idle,
  busy: polled("busy", 5_000, { total: 500_000, rate: 100, shardCount: 150, shardDocuments: 150 }),
  scattered: polled("scattered", 10_000, { shardCount: 3 }),
  quiet: polled("quiet", 10_000, { shardCount: 3, calmSince: T - 50_000 }),
  shrunk: polled("shrunk", 130_000, { calmSince: T - 60_000 }),
  cooling: polled("cooling", 410_000, { calmSince: T - 190_000 }),
  "from the future": { ...idle, asOf: T + 3_600_000 },
};

/** A test for each cell of a table. */
function rowsOf(table: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  return Object.entries(table).flatMap(([situation, answers]) =>
    Object.entries(answers).map(([found, answer]) => [situation, found, answer] as const),
  );
}

describe("before anything is measured", () => {
  /** What has happened, and when it is looked at. */
  type Happened =
    | "a counted write comes again"
    | "a write, at once"
    | "a write creates a shard in use"
    | "a write creates a shard beyond the count"
    | "a write, much later"
    | "an old poll comes late"
    | "its poll is due";

  const causeOf = (happened: Happened, counter: Published | undefined): [cause: Cause, now: number] => {
    const poll = counter?.nextPollAt ?? T + 10_000;
    const causes: Record<Happened, [Cause, now: number]> = {
      "a counted write comes again": [{ at: T, isPoll: false }, T + 100],
      "a write, at once": [{ at: T + 100, isPoll: false }, T + 110],
      "a write creates a shard in use": [{ at: T + 1_100, isPoll: false, isNew: true, shardId: "0" }, T + 1_110],
      "a write creates a shard beyond the count": [
        { at: T + 1_100, isPoll: false, isNew: true, shardId: "900" },
        T + 1_110,
      ],
      "a write, much later": [{ at: T + 1_000_000, isPoll: false }, T + 1_000_010],
      "an old poll comes late": [{ at: T + 1, isPoll: true }, T + 3_000],
      "its poll is due": [{ at: poll, isPoll: true }, poll],
    };
    return causes[happened];
  };

  /** `schedule n`: a task n seconds after the last publish. */
  type Answer = "nothing" | "measure" | `schedule ${number}`;
  const table: Record<Situation, Record<Happened, Answer>> = {
    "never published": {
      "a counted write comes again": "measure",
      "a write, at once": "measure",
      "a write creates a shard in use": "measure",
      "a write creates a shard beyond the count": "measure",
      "a write, much later": "measure",
      "an old poll comes late": "measure",
      "its poll is due": "measure",
    },
    idle: {
      "a counted write comes again": "nothing",
      "a write, at once": "schedule 1",
      "a write creates a shard in use": "measure",
      "a write creates a shard beyond the count": "measure",
      "a write, much later": "measure",
      "an old poll comes late": "measure",
      "its poll is due": "measure",
    },
    // Its poll comes soon, so no write triggers a measurement; but for one that shows contention.
    busy: {
      "a counted write comes again": "nothing",
      "a write, at once": "nothing",
      "a write creates a shard in use": "nothing",
      "a write creates a shard beyond the count": "nothing",
      "a write, much later": "measure",
      "an old poll comes late": "nothing",
      "its poll is due": "measure",
    },
    scattered: {
      "a counted write comes again": "nothing",
      "a write, at once": "schedule 1",
      "a write creates a shard in use": "measure",
      "a write creates a shard beyond the count": "measure",
      "a write, much later": "measure",
      "an old poll comes late": "nothing",
      "its poll is due": "measure",
    },
    quiet: {
      "a counted write comes again": "nothing",
      "a write, at once": "schedule 1",
      "a write creates a shard in use": "measure",
      "a write creates a shard beyond the count": "measure",
      "a write, much later": "measure",
      "an old poll comes late": "nothing",
      "its poll is due": "measure",
    },
    shrunk: {
      "a counted write comes again": "nothing",
      "a write, at once": "schedule 1",
      "a write creates a shard in use": "measure",
      "a write creates a shard beyond the count": "measure",
      "a write, much later": "measure",
      "an old poll comes late": "nothing",
      "its poll is due": "measure",
    },
    cooling: {
      "a counted write comes again": "nothing",
      "a write, at once": "schedule 1",
      "a write creates a shard in use": "measure",
      "a write creates a shard beyond the count": "measure",
      "a write, much later": "measure",
      "an old poll comes late": "nothing",
      "its poll is due": "measure",
    },
    // No clock is so far ahead: the document is damaged, and does not freeze the counter.
    "from the future": {
      "a counted write comes again": "measure",
      "a write, at once": "measure",
      "a write creates a shard in use": "measure",
      "a write creates a shard beyond the count": "measure",
      "a write, much later": "measure",
      "an old poll comes late": "measure",
      "its poll is due": "measure",
    },
  };
  test.each(rowsOf(table))("%s: %s → %s", (situation, happened, answer) => {
    const previous = situations[situation as Situation];
    const [cause, now] = causeOf(happened as Happened, previous);
    expect(inWords(decide(cause, { previous }, now, 0, defaults))).toBe(answer);
  });

  test("of two chains of polls one ends: the later one is deferred by a second, and continues if the earlier one is lost", () => {
    const scattered = situations.scattered as Published;
    const late: Cause = { at: T + 10_300, isPoll: true };
    const step = (now: number) => inWords(decide(late, { previous: scattered }, now, 0, defaults));
    expect([T + 10_300, T + 10_999, T + 11_000].map(step)).toEqual(["schedule 11", "schedule 11", "measure"]);
    // The earlier one has published, and scheduled the next.
    const published = { ...scattered, asOf: T + 10_000, nextPollAt: T + 20_000 };
    expect(decide({ ...late, at: T + 11_000 }, { previous: published }, T + 11_000, 0, defaults).do).toBe("nothing");
  });

  test("a busy counter that is published less often than once a second is measured early if it is contended", () => {
    const busy = situations.busy as Published;
    const contended: Cause = { at: T + 6_000, isPoll: false, isNew: true, shardId: "900" };
    const slow = { ...busy, total: 900_000, nextPollAt: T + 5_500 };
    expect(inWords(decide(contended, { previous: slow }, T + 6_010, 0, defaults))).toBe("measure");
    expect(inWords(decide({ ...contended, isNew: false }, { previous: slow }, T + 6_010, 0, defaults))).toBe(
      "schedule 9",
    );
  });
});

describe("of a measurement", () => {
  /** What was found: by the poll if there is one, or else by an event. */
  type Found =
    | "nothing new, by a poll"
    | "nothing new, by an event in between"
    | "a write, by a poll"
    | "a write, by an event"
    | "a write that the clock puts later"
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
      "a write that the clock puts later": [event(early + 20), measured(before, early, written)],
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
      "a write that the clock puts later": "publish scattered of 1, poll 15, task 6",
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
      "a write that the clock puts later": "publish idle of 1, task 6",
      "a thousand writes": "publish busy of 6000, poll 6",
      "no shard but 0 and base": "publish idle of 1",
      "no shard at all": "publish idle of 1",
    },
    busy: {
      "nothing new, by a poll": "publish quiet of 150, poll 15",
      "nothing new, by an event in between": "nothing",
      "a write, by a poll": "publish busy of 150, poll 15",
      // Its poll counts the write.
      "a write, by an event": "nothing",
      "a write that the clock puts later": "publish busy of 150, poll 15",
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
      "a write that the clock puts later": "publish scattered of 3, poll 15, task 6",
      "a thousand writes": "publish busy of 300, poll 6",
      "no shard but 0 and base": "publish idle of 3",
      "no shard at all": "publish idle of 3",
    },
    quiet: {
      "nothing new, by a poll": "publish shrunk of 1, poll 140",
      "nothing new, by an event in between": "publish quiet of 3, poll 10",
      "a write, by a poll": "publish scattered of 3, poll 20",
      "a write, by an event": "publish scattered of 3, poll 15",
      "a write that the clock puts later": "publish scattered of 3, poll 15, task 6",
      "a thousand writes": "publish busy of 300, poll 6",
      "no shard but 0 and base": "publish idle of 3",
      "no shard at all": "publish idle of 3",
    },
    shrunk: {
      "nothing new, by a poll": "publish cooling of 1, poll 540",
      "nothing new, by an event in between": "publish shrunk of 1, poll 130",
      "a write, by a poll": "publish scattered of 1, poll 140",
      "a write, by an event": "publish scattered of 1, poll 15",
      "a write that the clock puts later": "publish scattered of 1, poll 15, task 6",
      "a thousand writes": "publish busy of 6000, poll 6",
      "no shard but 0 and base": "publish idle of 1",
      "no shard at all": "publish idle of 1",
    },
    cooling: {
      "nothing new, by a poll": "fold from 1",
      "nothing new, by an event in between": "publish cooling of 1, poll 410",
      // Not because it has cooled down, but because a cool-down has gone by with shards beyond the count.
      "a write, by a poll": "fold from 1",
      "a write, by an event": "publish scattered of 1, poll 15",
      "a write that the clock puts later": "publish scattered of 1, poll 15, task 6",
      "a thousand writes": "publish busy of 6000, poll 6",
      "no shard but 0 and base": "publish idle of 1",
      "no shard at all": "publish idle of 1",
    },
    "from the future": {
      "nothing new, by a poll": "publish idle of 1",
      "nothing new, by an event in between": "publish idle of 1",
      "a write, by a poll": "publish idle of 1",
      "a write, by an event": "publish idle of 1",
      "a write that the clock puts later": "publish idle of 1, task 6",
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
  const cause: Cause = { at: T + 600_000, isPoll: true };
  const folded = measured(cooling, T + 601_000, { documents: 2, shards: [shard("0"), shard("base")] });
  const step = (measurement: Measurement) =>
    inWords(decide(cause, { previous: cooling, measurement, hasFolded: true }, T + 601_000, 0, defaults));
  expect(step(folded)).toBe("publish idle of 1");
  expect(step(measured(cooling, T + 601_000))).toBe("publish cooling of 1, poll 3601");
});

test("a busy counter folds the shards beyond its shard count once in a cool-down", () => {
  const hour = Math.ceil(T / 3_600_000) * 3_600_000;
  const step = (asOf: number, documents: number, cause: Cause = { at: asOf + 5_000, isPoll: true }) => {
    const busy: Published = { ...(situations.busy as Published), asOf, nextPollAt: asOf + 5_000 };
    const measurement = measured(busy, asOf + 5_000, { documents, writes: busy.writes + 500 });
    return decide(cause, { previous: busy, measurement }, asOf + 5_000, 0, defaults);
  };
  expect(step(hour - 1, 152)).toEqual({ do: "fold", fromIndex: 150, quietSince: hour + 4_999 - 600_000 });
  expect(step(hour - 1, 151).do).toBe("publish");
  expect(step(hour, 152).do).toBe("publish");
  // An event publishes and leaves the fold to a poll: else each instance that is woken meanwhile would fold, too.
  expect(step(hour - 1, 152, { at: hour + 5_000, isPoll: false }).do).toBe("publish");
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
  expect(step(T + 5_010, T)).toBe("publish idle of 1, task 6.01");
  expect(step(T + 5_050, T)).toBe("publish idle of 1");
  expect(step(T + 5_010, T + 5_000)).toBe("publish idle of 1");
});

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
});

describe("a counter that counts a collection", () => {
  const counting = (total: number, at: number): Measurement => ({
    total,
    writes: 0,
    documents: 0,
    asOf: toTimestamp(at),
    counted: { path: "posts", reads: Math.max(Math.ceil(total / 1_000), 1) },
  });
  const before: Published = { ...idle, shardDocuments: 0, countReads: 1, countedCollection: "posts" };
  const publish = (previous: Published | undefined, total: number, seconds: number) => {
    const at = T + seconds * 1_000;
    const step = decide({ at, isPoll: false }, { previous, measurement: counting(total, at) }, at, 0, defaults);
    return step.do === "publish" ? step.next : undefined;
  };

  test("is published even if its count has not changed, so that an older measurement cannot be published later", () => {
    expect(publish(before, before.total, 5)).toMatchObject({ total: 42, writes: 42, publishes: 8 });
    expect(publish(undefined, 0, 0)).toMatchObject({ total: 0, countedCollection: "posts" });
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
    expect(publish(before, 42_000, 5)).toMatchObject({ countReads: 42, phase: "busy", nextPollAt: T + 5_000 + 8_400 });
  });
});

describe("for any state, cause and measurement", () => {
  interface Case {
    readonly cause: Cause;
    readonly known: KnownState;
    readonly now: number;
    readonly margin: number;
    readonly config: typeof defaults;
  }
  /** Around the instants that matter. */
  const offsets = fc.oneof(fc.integer({ min: -2_000, max: 12_000 }), fc.integer({ min: -2_000, max: 4_000_000 }));
  const ids = fc.constantFrom("0", "1", "7", "base", "9999", "imported");
  const cases: fc.Arbitrary<Case> = fc
    .record({
      previous: fc.option(anyCounter, { nil: undefined }),
      config: anyConfig,
      margin: fc.constantFrom(0, 50),
      hasFolded: fc.boolean(),
      at: fc.oneof(offsets, fc.constant("poll" as const)),
      isPoll: fc.boolean(),
      isNew: fc.boolean(),
      shardId: fc.option(ids, { nil: undefined }),
      lookedAt: offsets,
      asOf: offsets,
      more: fc.oneof(fc.constant(0), fc.nat(1_000_000)),
      documents: fc.option(fc.nat(200), { nil: undefined }),
      listed: fc.boolean(),
      malformed: fc.boolean(),
      isMeasured: fc.boolean(),
    })
    .map(({ previous, config, margin, hasFolded, isPoll, isNew, shardId, ...drawn }) => {
      const start = previous?.asOf ?? T;
      const due = previous?.nextPollAt ?? start;
      const at = drawn.at === "poll" ? due : start + drawn.at;
      const documents = drawn.documents ?? previous?.shardDocuments ?? 1;
      // An event, or a task, comes after what it is about; a clock may be wrong by a little.
      const now = Math.max(start + drawn.lookedAt, at - 20);
      const measurement = measured(previous ?? idle, Math.max(start + drawn.asOf, at - 20), {
        documents,
        total: (previous?.total ?? 0) + drawn.more,
        writes: Math.min((previous?.writes ?? 0) + drawn.more, Number.MAX_SAFE_INTEGER),
        ...(drawn.malformed && { malformed: ["x"] }),
      });
      const known = { previous, hasFolded, ...(drawn.isMeasured && { measurement }) };
      return { cause: { at, isPoll, isNew, shardId }, known, now, margin, config };
    });
  const check = (holds: (one: Case, step: Step) => void) =>
    fc.assert(
      fc.property(cases, (one) => holds(one, decide(one.cause, one.known, one.now, one.margin, one.config))),
      { numRuns: 5_000 },
    );

  test("I4: no total is published before it is due", () => {
    check(({ cause, known: { previous }, config }, step) => {
      if (step.do !== "publish" || !previous) return;
      const { total, rate, countReads, asOf, shardCount, growing } = previous;
      expect(step.next.asOf).toBeGreaterThanOrEqual(asOf + config.minInterval);
      const isContended = cause.isNew && /^[0-9]+$/.test(cause.shardId ?? "") && Number(cause.shardId) >= shardCount;
      if (!isContended && !growing)
        expect(step.next.asOf).toBeGreaterThanOrEqual(asOf + publishInterval(total, rate, countReads, config));
    });
  });

  test("I2: a polled phase comes with its poll first, an idle one with none", () => {
    check((_, step) => {
      if (step.do !== "publish") return;
      const { phase, nextPollAt, asOf } = step.next;
      expect(nextPollAt === null).toBe(phase === "idle");
      expect(step.tasks.filter(({ isPoll }) => isPoll)).toEqual(
        nextPollAt === null ? [] : [{ due: nextPollAt, isPoll: true }],
      );
      if (nextPollAt === null) return;
      expect(step.tasks[0]?.isPoll).toBe(true);
      expect(nextPollAt).toBeGreaterThan(asOf);
      expect(nextPollAt - asOf).toBeLessThanOrEqual(LONGEST_DELAY);
    });
  });

  test("I2: a published counter with silent shards is polled", () => {
    check(({ known: { measurement } }, step) => {
      if (step.do !== "publish" || !measurement) return;
      const isSilent = measurement.shards
        ? [...measurement.shards.map(({ id }) => id), ...(measurement.malformed ?? [])].some(
            (id) => id !== "0" && id !== "base",
          )
        : measurement.documents > MAX_LISTED_SHARDS;
      if (isSilent) expect(step.next.phase).not.toBe("idle");
    });
  });

  test("I1: no write is lost: it is counted, covered by a scheduled poll, or gets a task", () => {
    check(({ cause, known: { previous, measurement }, margin }, step) => {
      const isCounted = (asOf: number) => cause.at <= asOf - margin;
      const isPolled = ({ nextPollAt }: Published) => nextPollAt !== null && nextPollAt >= cause.at;
      if (step.do === "schedule") expect(step.task.due).toBeGreaterThanOrEqual(cause.at);
      if (step.do === "nothing") {
        const isFound =
          measurement && (isCounted(toMillis(measurement.asOf)) || includesWrite(measurement, cause.shardId, cause.at));
        expect(isFound || (previous && (isCounted(previous.asOf) || isPolled(previous)))).toBe(true);
      }
      if (step.do === "publish" && measurement) {
        const isFound = isCounted(toMillis(measurement.asOf)) || includesWrite(measurement, cause.shardId, cause.at);
        expect(isFound || step.tasks.some(({ due }) => due >= cause.at)).toBe(true);
      }
    });
  });

  test("I2: the poll of a counter that has silent shards schedules the next one", () => {
    check(({ cause, known: { previous, measurement, hasFolded }, config, now, margin }) => {
      if (!previous || previous.nextPollAt === null || !measurement) return;
      // By the poll itself, or by an event that comes after it was due.
      const at = Math.max(previous.nextPollAt + (cause.isPoll ? 0 : 1), cause.at);
      const asOf = Math.max(toMillis(measurement.asOf), at + margin);
      const known = {
        previous,
        hasFolded: hasFolded === true,
        measurement: { ...measurement, asOf: toTimestamp(asOf) },
      };
      const step = decide({ ...cause, at }, known, Math.max(now, at), margin, config);
      if (step.do === "publish") expect(step.next.nextPollAt ?? Number.POSITIVE_INFINITY).toBeGreaterThan(at);
      else expect(["fold", "wait"]).toContain(step.do);
    });
  });

  test("the next publish is later, has no fewer writes, and a finite rate of six digits", () => {
    check(({ known: { previous, measurement } }, step) => {
      if (step.do !== "publish") return;
      const { rate, writes, publishes, asOf, total } = step.next;
      expect([total, asOf]).toEqual([measurement?.total, toMillis((measurement as Measurement).asOf)]);
      expect(publishes).toBe((previous?.publishes ?? 0) + 1);
      expect(asOf).toBeGreaterThan(previous?.asOf ?? 0);
      expect(writes).toBeGreaterThanOrEqual(previous?.writes ?? 0);
      expect(rate).toBeGreaterThanOrEqual(0);
      expect(rate).toBe(Number(rate.toPrecision(6)));
    });
  });
});

import { describe, expect, test } from "vitest";
import { inWords, rowsOf, type Situation, situations, T } from "../../testing/situations.ts";
import { DEFAULT_CONFIG as defaults } from "../deploy/defaultConfig.ts";
import type { Cause } from "./cause.ts";
import { decide } from "./decide.ts";
import type { Published } from "./types.ts";

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

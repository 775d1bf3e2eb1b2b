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
  const measured: Record<Happened, Answer> = {
    "a counted write comes again": "measure",
    "a write, at once": "measure",
    "a write creates a shard in use": "measure",
    "a write creates a shard beyond the count": "measure",
    "a write, much later": "measure",
    "an old poll comes late": "measure",
    "its poll is due": "measure",
  };
  const polled: Record<Happened, Answer> = {
    ...measured,
    "a counted write comes again": "nothing",
    "a write, at once": "schedule 1",
    "an old poll comes late": "nothing",
  };
  const table: Record<Situation, Record<Happened, Answer>> = {
    "never published": measured,
    idle: { ...polled, "an old poll comes late": "measure" },
    // Its poll comes soon, so no write triggers a measurement; but for one that shows contention.
    busy: {
      ...polled,
      "a write, at once": "nothing",
      "a write creates a shard in use": "nothing",
      "a write creates a shard beyond the count": "nothing",
    },
    scattered: polled,
    quiet: polled,
    shrunk: polled,
    cooling: polled,
    // No clock is so far ahead: the document is damaged, and does not freeze the counter.
    "from the future": measured,
  };
  test.each(rowsOf(table))("%s: %s → %s", (situation, happened, answer) => {
    const previous = situations[situation as Situation];
    const [cause, now] = causeOf(happened as Happened, previous);
    expect(inWords(decide(cause, { previous }, now, 0, defaults))).toBe(answer);
  });

  describe("while the poll at `nextPollAt` is not published", () => {
    const previous = { ...(situations.scattered as Published), nextPollAt: T + 10_000 };
    const steps = (cause: Cause, times: readonly number[], updatedAt = T + 50) =>
      times.map((now) => decide(cause, { previous, updatedAt }, T + now, 0, defaults));
    const wait = (duration: number) => ({ do: "reread", duration });
    const measure = { do: "measure" };

    test("another poll waits for ten seconds", () => {
      const later = { at: T + 10_300, isPoll: true };
      expect(steps(later, [10_300, 19_999, 20_300])).toEqual([wait(1_000), wait(301), measure]);
      // Another attempt of a poll is no second poll.
      expect(steps({ ...later, isRetry: true }, [10_300])).toEqual([measure]);
    });

    test("that poll measures, and so does a write before it", () => {
      expect(steps({ at: T + 10_000, isPoll: true }, [10_000, 60_000])).toEqual([measure, measure]);
      expect(steps({ at: T + 9_999, isPoll: false }, [10_001])).toEqual([measure]);
    });

    test("a later write waits for twice as long as the last publish took, at most for ten seconds", () => {
      const write = { at: T + 10_300, isPoll: false };
      expect(steps(write, [10_310, 10_400])).toEqual([wait(90), measure]);
      expect(steps(write, [10_310, 16_299, 16_300], T + 3_000)).toEqual([wait(1_000), wait(1), measure]);
      expect(steps(write, [20_299, 20_300], T + 40_000)).toEqual([wait(1), measure]);
    });

    test("none of them waits once it is published", () => {
      const published = { ...previous, asOf: T + 10_000, nextPollAt: T + 20_000 };
      const decideFor = (cause: Cause) => decide(cause, { previous: published }, T + 11_100, 0, defaults).do;
      expect(decideFor({ at: T + 11_000, isPoll: true })).toBe("nothing");
      expect(decideFor({ at: T + 11_000, isPoll: false })).toBe("measure");
    });
  });

  test("a write before the next publish is due is scheduled, whether the poll is late or not", () => {
    const slow = { ...(situations.busy as Published), total: 900_000, nextPollAt: T + 5_500 };
    const write: Cause = { at: T + 6_000, isPoll: false, isNew: false, shardId: "900" };
    expect(inWords(decide(write, { previous: slow }, T + 6_010, 0, defaults))).toBe("schedule 9");
    // Contention shortens the interval.
    expect(inWords(decide({ ...write, isNew: true }, { previous: slow }, T + 7_000, 0, defaults))).toBe("measure");
  });
});

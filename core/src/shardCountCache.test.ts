import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_SHARDS } from "./layout.ts";
import { createShardCountCache, type SentWrite, type ShardCountCache } from "./shardCountCache.ts";
import {
  FIRST_COUNT_TIMEOUT_MS,
  LATER_COUNT_TIMEOUT_MS,
  OFFLINE_AFTER_MS,
  SHARD_COUNT_TTL_MS,
  SHARD_COUNT_TTL_WRITES,
  SLOW_ANSWER_TTL_MS,
  SLOW_WRITE_MS,
} from "./timeouts.ts";

const START = 1_700_000_000_000;
/** Invalid shard counts of a counter document. */
const malformed = [0, -1, 0.5, Number.NaN, Number.NEGATIVE_INFINITY, "many", "", false, [], {}];

/** A client whose clock the test sets. */
interface Client {
  readonly cache: ShardCountCache;
  send(): void;
  /** The oldest write has an answer. */
  answer(isRefused?: boolean): void;
  /** Moves the clock. @returns how many shards it chooses from, and whether it should read the shard count first */
  later(millis?: number): [width: number, isStale: boolean];
}

function client(...learned: Parameters<ShardCountCache["_update"]>): Client {
  let now = START;
  const cache = createShardCountCache(() => now);
  if (learned.length > 0) cache._update(...learned);
  const later = (millis = 0): [number, boolean] => {
    now += millis;
    return [cache._shardsToChooseFrom(), cache._isStale()];
  };
  const sent: SentWrite[] = [];
  return {
    cache,
    later,
    send: () => void sent.push(cache._writeSent()),
    answer: (isRefused) => cache._writeAnswered(sent.shift() as SentWrite, isRefused),
  };
}

describe("the known shard count", () => {
  test("is 1 at first, and is read before the first write", () => {
    expect(client().later()).toEqual([1, true]);
  });

  test("is used for two minutes, then read before the next write", () => {
    expect(SHARD_COUNT_TTL_MS).toBe(120_000);
    const one = client(8);
    expect([one.later(), one.later(SHARD_COUNT_TTL_MS - 1), one.later(1)]).toEqual([
      [8, false],
      [8, false],
      [8, true],
    ]);
  });

  test("is used for twenty writes, then read before the next write", () => {
    expect(SHARD_COUNT_TTL_WRITES).toBe(20);
    const one = client(8);
    const write = () => {
      one.send();
      one.answer();
      return one.later();
    };
    for (let n = 1; n < SHARD_COUNT_TTL_WRITES; n++) expect(write()).toEqual([8, false]);
    expect(write()).toEqual([8, true]);
    one.cache._update(8);
    expect(write()).toEqual([8, false]);
  });

  test("is at most 10,000, whatever the counter document has", () => {
    expect([20_000, Number.POSITIVE_INFINITY].map((count) => client(count).later()[0])).toEqual([10_000, 10_000]);
  });
});

test("a write waits for the first count for eight seconds, for later ones for one", () => {
  const one = client();
  expect(one.cache._countTimeout()).toBe(FIRST_COUNT_TIMEOUT_MS);
  one.cache._update();
  expect(one.cache._countTimeout()).toBe(LATER_COUNT_TIMEOUT_MS);
});

describe("a slow write", () => {
  /** A client whose write is pending while a read of the count takes so long. */
  const waiting = (shardCount: number, readMillis: number) => {
    const one = client(shardCount, false, readMillis);
    one.later(SHARD_COUNT_TTL_MS / 2);
    one.send();
    one.later(readMillis);
    one.cache._update(shardCount, false, readMillis);
    return one;
  };

  test("lets a client choose from four times as many shards, at least 64, for each two seconds without an answer", () => {
    expect(SLOW_WRITE_MS).toBe(2_000);
    const few = waiting(3, 50);
    expect([few.later(1_949)[0], few.later(1)[0], few.later(2_000)[0]]).toEqual([3, 64, 128]);
    const many = waiting(100, 50);
    expect([many.later(1_949)[0], many.later(1)[0], many.later(2_000)[0]]).toEqual([100, 400, 800]);
    expect(waiting(9_000, 50).later(2_000)[0]).toBe(MAX_SHARDS);
  });

  test("is forgotten with the next prompt answer, and ten seconds after its own", () => {
    expect(SLOW_ANSWER_TTL_MS).toBe(10_000);
    const answered = () => {
      const one = waiting(100, 50);
      one.later(2_000);
      one.answer();
      return one;
    };
    const one = answered();
    expect([one.later()[0], one.later(9_999)[0], one.later(1)[0]]).toEqual([400, 400, 100]);
    const other = answered();
    other.send();
    other.answer();
    expect(other.later()[0]).toBe(100);
    const grown = answered();
    grown.cache._update(101, false, 50);
    expect(grown.later()[0]).toBe(101);
  });

  test("is none after ten seconds or more: the device is offline or asleep", () => {
    expect(OFFLINE_AFTER_MS).toBe(10_000);
    const one = waiting(1, 50);
    expect([one.later(9_949)[0], one.later(1)[0], one.later(3_600_000)[0]]).toEqual([256, 1, 1]);
    one.answer();
    expect(one.later()[0]).toBe(1);
  });

  test("a write that waits until its user signs in again is none after ten seconds, however often others are written", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 10, max: 500 }), (gap, millis) => {
        const one = client(1, false, 50);
        one.cache._writeSent();
        one.later(OFFLINE_AFTER_MS);
        let reads = 0;
        for (let n = 0; n < 100; n++) {
          one.send();
          one.later(millis);
          one.answer();
          const [width, isStale] = one.later(gap);
          expect(width).toBe(1);
          if (!isStale) continue;
          reads++;
          one.cache._update(1, false, 50);
        }
        // As without that write: one in two minutes, and one in 20 writes.
        expect(reads).toBeLessThanOrEqual(6 + (100 * (gap + millis)) / SHARD_COUNT_TTL_MS);
      }),
    );
  });

  test("an offline device never takes its queue for contention", () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 120_000 }), { minLength: 100, maxLength: 100 });
    const online = fc.option(fc.integer({ min: 10, max: 3_000 }), { nil: undefined });
    fc.assert(
      fc.property(gaps, online, (millis, readMillis) => {
        const one = client(1, false, readMillis);
        for (const gap of millis) {
          expect(one.later(gap + 1)[0]).toBe(1);
          one.send();
          // No read succeeds.
          if (one.later()[1]) one.cache._update();
        }
      }),
    );
  });
});

describe("a write refused as contended", () => {
  const answer = (one: Client, isRefused: boolean) => {
    one.send();
    one.answer(isRefused);
    return one.later()[0];
  };

  test("multiplies the number of shards by 8, at most by 512 in total; each answered write halves it", () => {
    const one = client(2);
    expect([1, 2, 3, 4].map(() => answer(one, true))).toEqual([16, 128, 1024, 1024]);
    expect(Array.from({ length: 10 }, () => answer(one, false))).toEqual([512, 256, 128, 64, 32, 16, 8, 4, 2, 2]);
    expect(one.cache._isContended()).toBe(false);
  });
});

test("in any sequence of events, a client chooses from at least the known count, and from more by its signs of contention", () => {
  type Step =
    | { learn: unknown; growing: boolean; readMillis?: number }
    | { send: true }
    | { answer: boolean }
    | { wait: number };
  const counts = fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.constantFrom(undefined, ...malformed));
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record(
      { learn: counts, growing: fc.boolean(), readMillis: fc.constantFrom(50, 750) },
      { requiredKeys: ["learn", "growing"] },
    ),
    { weight: 4, arbitrary: fc.constant({ send: true as const }) },
    { weight: 4, arbitrary: fc.record({ answer: fc.boolean() }) },
    fc.record({ wait: fc.constantFrom(1, 500, 1_000, 2_000, 9_000, SHARD_COUNT_TTL_MS) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
      const { cache, later, send, answer } = client();
      let time = 0;
      let count = 1;
      let wider = 1;
      let sent = 0;
      let unanswered: { at: number; isOld: boolean }[] = [];
      let answeredAt = 0;
      const waitingSince = () => {
        const first = unanswered.find(({ isOld }) => !isOld);
        return first && Math.max(answeredAt, first.at);
      };
      let read: { at: number; readMillis: number } | undefined;
      let [learnedAt, isTrusted] = [Number.NEGATIVE_INFINITY, false];
      let last: { since: number; until: number } | undefined;
      const slowness = (mustBeProven: boolean) => {
        const since = waitingSince();
        const waits = [...(since === undefined ? [] : [{ since, until: time }]), ...(last ? [last] : [])];
        const slow = waits
          .filter(({ since, until }) => until - since < 10_000 && time - until < 10_000)
          .map(({ since, until }) => {
            const proof = read && read.at > since ? read : undefined;
            if (mustBeProven && !proof) return 0;
            return Math.floor((until - since) / Math.max(2_000, 4 * (proof?.readMillis ?? 0)));
          });
        return Math.max(0, ...slow);
      };
      const factorNow = () => {
        const slow = slowness(true);
        return Math.max(wider, slow === 0 ? 1 : slow * Math.max(4, 64 / count));
      };
      for (const one of steps) {
        if ("wait" in one) {
          later(one.wait);
          time += one.wait;
        } else if ("send" in one) {
          send();
          unanswered.push({ at: time, isOld: false });
          sent++;
        } else if ("answer" in one) {
          if (unanswered.length === 0) continue;
          const before = factorNow();
          const since = waitingSince();
          answer(one.answer);
          wider = one.answer ? Math.min(before * 8, 512) : Math.max(wider / 2, 1);
          last = one.answer || since === undefined ? undefined : { since, until: time };
          answeredAt = time;
          unanswered = unanswered.slice(1).map(({ at, isOld }) => ({ at, isOld: isOld || time - at >= 10_000 }));
        } else {
          cache._update(one.learn, one.growing, one.readMillis);
          const said = malformed.includes(one.learn as never) ? 1 : ((one.learn ?? count) as number);
          if (said > count) [wider, last] = [1, undefined];
          [count, sent, learnedAt] = [said, 0, time];
          isTrusted = Boolean(one.learn) && !one.growing;
          if (one.readMillis !== undefined) read = { at: time, readMillis: one.readMillis };
        }
        const [width, isStale] = later();
        const factor = factorNow();
        expect(cache._isContended()).toBe(factor > 1);
        const isShort = factor > 1 || slowness(false) > 0 || !isTrusted;
        expect(isStale).toBe(
          sent >= SHARD_COUNT_TTL_WRITES || time - learnedAt >= (isShort ? 1_000 : SHARD_COUNT_TTL_MS),
        );
        expect(width).toBeCloseTo(Math.min(factor * count, MAX_SHARDS), 6);
        expect(width).toBeGreaterThanOrEqual(Math.min(count, MAX_SHARDS));
      }
    }),
    { numRuns: 300 },
  );
});

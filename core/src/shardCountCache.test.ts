import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_SHARDS } from "./layout.ts";
import { createShardCountCache, type ShardCountCache } from "./shardCountCache.ts";
import { SHARD_COUNT_TTL_MS, SHARD_COUNT_TTL_WRITES, SLOW_ACK_MS } from "./timeouts.ts";

const START = 1_700_000_000_000;
/** Invalid shard counts of a counter document. */
const malformed = [0, -1, 0.5, Number.NaN, Number.NEGATIVE_INFINITY, "many", "", false, [], {}];

/** A client whose clock the test sets. */
interface Client {
  readonly cache: ShardCountCache;
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
  return { cache, later };
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
      one.cache._requestSent();
      one.cache._requestAnswered();
      return one.later();
    };
    for (let n = 1; n < SHARD_COUNT_TTL_WRITES; n++) expect(write()).toEqual([8, false]);
    expect(write()).toEqual([8, true]);
    one.cache._update(8);
    expect(write()).toEqual([8, false]);
  });

  test.each<[why: string, learned: Parameters<ShardCountCache["_update"]>, width: number]>([
    ["it has just grown", [8, true], 8],
    ["it could not be read", [], 1],
    ["there is no counter yet", [undefined, undefined], 1],
  ])("is used for one second if %s", (_why, learned, width) => {
    const one = client();
    one.cache._update(...learned);
    expect([one.later(), one.later(SLOW_ACK_MS - 1), one.later(1)]).toEqual([
      [width, false],
      [width, false],
      [width, true],
    ]);
  });

  test("stays when it cannot be read, and is read again after a second", () => {
    const one = client(8);
    one.later(SHARD_COUNT_TTL_MS);
    one.cache._update();
    expect([one.later(), one.later(SLOW_ACK_MS)]).toEqual([
      [8, false],
      [8, true],
    ]);
  });

  test.each(malformed)("is 1 if the counter document has %j, whatever was known before", (shardCount) => {
    const one = client(8);
    one.cache._update(shardCount);
    expect(one.later()).toEqual([1, false]);
  });

  test("is at most 10,000, whatever the counter document has", () => {
    expect([20_000, Number.POSITIVE_INFINITY].map((count) => client(count).later()[0])).toEqual([10_000, 10_000]);
  });
});

describe("while a write, or a read of the count, has no answer", () => {
  test("for a second, a client chooses from four times as many shards, at least 64, and reads the count every second", () => {
    expect(SLOW_ACK_MS).toBe(1_000);
    const one = client(3);
    one.cache._requestSent();
    expect([one.later(SLOW_ACK_MS - 1), one.later(1)]).toEqual([
      [3, false],
      [64, true],
    ]);
    one.cache._update(4);
    expect([one.later(), one.later(SLOW_ACK_MS - 1), one.later(1)]).toEqual([
      [64, false],
      [64, false],
      [128, true],
    ]);
    one.cache._update(9_000);
    expect(one.later()[0]).toBe(MAX_SHARDS);
  });

  test("for longer, a client chooses from as many times more shards as there are whole seconds, eight at most", () => {
    const one = client(100);
    one.cache._requestSent();
    const widths = [1, 999, 1, 1_000, 5_000, 60_000].map((millis) => one.later(millis)[0]);
    expect(widths).toEqual([100, 400, 400, 800, 2_800, 3_200]);
  });

  test("a late answer has the same effect, until quick answers have halved it to nothing", () => {
    const one = client(100);
    one.cache._requestSent();
    one.later(SLOW_ACK_MS + 1);
    one.cache._requestSent();
    expect(one.cache._isContended()).toBe(true);
    one.cache._requestAnswered();
    expect(one.later()).toEqual([400, true]);
    one.cache._requestAnswered();
    expect(one.later()).toEqual([200, true]);
    one.cache._requestSent();
    one.cache._requestAnswered();
    expect(one.later()).toEqual([100, false]);
    expect(one.cache._isContended()).toBe(false);
  });

  test("the second counts from the first request without an answer", () => {
    const one = client(100);
    one.later(30_000);
    one.cache._requestSent();
    expect([one.later(SLOW_ACK_MS - 1), one.later(1)]).toEqual([
      [100, false],
      [400, true],
    ]);
  });
});

describe("a write refused as contended", () => {
  const answer = (one: Client, isRefused: boolean) => {
    one.cache._requestSent();
    one.cache._requestAnswered(isRefused);
    return one.later()[0];
  };

  test("multiplies the number of shards by 8, at most by 512 in total; each answered write halves it", () => {
    const one = client(2);
    expect([1, 2, 3, 4].map(() => answer(one, true))).toEqual([16, 128, 1024, 1024]);
    expect(Array.from({ length: 10 }, () => answer(one, false))).toEqual([512, 256, 128, 64, 32, 16, 8, 4, 2, 2]);
    expect(one.cache._isContended()).toBe(false);
  });

  test("makes the client read the shard count every second", () => {
    const one = client(2);
    answer(one, true);
    expect([one.later(SLOW_ACK_MS - 1), one.later(1)]).toEqual([
      [16, false],
      [16, true],
    ]);
    one.cache._update(2, true);
    expect([one.later(SLOW_ACK_MS - 1), one.later(1)]).toEqual([
      [16, false],
      [16, true],
    ]);
  });

  test("has no effect after the shard count has grown, but after any other count", () => {
    const one = client(2);
    answer(one, true);
    one.cache._update(2);
    expect(one.later()).toEqual([16, false]);
    one.cache._update(1);
    expect(one.later()).toEqual([8, false]);
    one.cache._update(30);
    expect(one.later()).toEqual([30, false]);
    expect(one.cache._isContended()).toBe(false);
  });
});

test("in any sequence of events, a client chooses from at least the known count, and from more by its signs of contention", () => {
  type Step = { learn: unknown; growing: boolean } | { send: true } | { answer: boolean } | { wait: number };
  const counts = fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.constantFrom(undefined, ...malformed));
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ learn: counts, growing: fc.boolean() }),
    { weight: 4, arbitrary: fc.constant({ send: true as const }) },
    { weight: 4, arbitrary: fc.record({ answer: fc.boolean() }) },
    fc.record({ wait: fc.constantFrom(1, 500, SLOW_ACK_MS, 3_500, SHARD_COUNT_TTL_MS) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const { cache, later } = client();
      let time = 0;
      let count = 1;
      let wider = 1;
      let pending = 0;
      let answeredAt = 0;
      let sent = 0;
      let [learnedAt, isTrusted] = [Number.NEGATIVE_INFINITY, false];
      const slowFactor = () => {
        const seconds = pending > 0 ? Math.floor((time - answeredAt) / SLOW_ACK_MS) : 0;
        return seconds < 1 ? 1 : Math.min(seconds, 8) * Math.max(4, 64 / Math.max(count, 1));
      };
      for (const last of steps) {
        if ("wait" in last) {
          later(last.wait);
          time += last.wait;
        } else if ("send" in last) {
          cache._requestSent();
          if (pending++ === 0) answeredAt = time;
          sent++;
        } else if ("answer" in last) {
          if (pending === 0) continue;
          cache._requestAnswered(last.answer);
          const slow = slowFactor();
          if (last.answer) wider = Math.min(Math.max(wider, slow) * 8, 512);
          else wider = slow > wider ? slow : Math.max(wider / 2, 1);
          pending--;
          answeredAt = time;
        } else {
          cache._update(last.learn, last.growing);
          const said = malformed.includes(last.learn as never) ? 1 : ((last.learn ?? count) as number);
          if (said > count) wider = 1;
          [count, sent, learnedAt] = [said, 0, time];
          isTrusted = Boolean(last.learn) && !last.growing;
        }
        const [width, isStale] = later();
        const factor = Math.max(wider, slowFactor());
        expect(cache._isContended()).toBe(factor > 1);
        const trusted = factor > 1 ? SLOW_ACK_MS : isTrusted ? SHARD_COUNT_TTL_MS : SLOW_ACK_MS;
        expect(isStale).toBe(sent >= SHARD_COUNT_TTL_WRITES || time - learnedAt >= trusted);
        expect(width).toBeCloseTo(Math.min(factor * count, MAX_SHARDS), 6);
        expect(width).toBeGreaterThanOrEqual(Math.min(count, MAX_SHARDS));
      }
    }),
  );
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_SHARDS } from "../../core/src/index.ts";
import { BUSY_WRITES, createSpread, SHARD_COUNT_TTL_MS, SLOW_ACK_MS, type Spread } from "./spread.ts";

const now = 1_700_000_000_000;
/** What a counter cannot sensibly say. */
const malformed = [null, 0, -1, 0.5, Number.NaN, Number.NEGATIVE_INFINITY, "many", "", false, [], {}];

function knowing(shardCount: unknown): Spread {
  const spread = createSpread(() => 0);
  spread._learn(now, shardCount);
  return spread;
}

function write(spread: Spread, times: number): void {
  for (let i = 0; i < times; i++) spread._nextTurn();
}

describe("what is known of the shard count", () => {
  test("is nothing at first: one shard, to be asked for at once", () => {
    const spread = createSpread(() => 0);
    expect([spread._width(), spread._isStale(now)]).toEqual([1, true]);
  });

  test("is used for a minute", () => {
    const spread = knowing(8);
    expect(spread._width()).toBe(8);
    expect(SHARD_COUNT_TTL_MS).toBe(60_000);
    expect(spread._isStale(now)).toBe(false);
    expect(spread._isStale(now + SHARD_COUNT_TTL_MS - 1)).toBe(false);
    expect(spread._isStale(now + SHARD_COUNT_TTL_MS)).toBe(true);
  });

  test("is used for 20 writes, until it is learned anew", () => {
    expect(BUSY_WRITES).toBe(20);
    const spread = knowing(8);
    write(spread, BUSY_WRITES - 1);
    expect(spread._isStale(now)).toBe(false);
    write(spread, 1);
    expect(spread._isStale(now)).toBe(true);
    spread._learn(now, 9);
    expect([spread._width(), spread._isStale(now)]).toEqual([9, false]);
  });

  test("stays, and is not asked for again at once, when it could not be read", () => {
    const spread = knowing(8);
    write(spread, BUSY_WRITES);
    spread._learn(now + SHARD_COUNT_TTL_MS);
    expect([spread._width(), spread._isStale(now + SHARD_COUNT_TTL_MS)]).toEqual([8, false]);
    expect(spread._isStale(now + 2 * SHARD_COUNT_TTL_MS)).toBe(true);
  });

  test.each(malformed)("is one shard if the counter says %j, whatever was known before", (shardCount) => {
    const spread = knowing(8);
    spread._learn(now, shardCount);
    expect([spread._width(), spread._isStale(now)]).toEqual([1, false]);
  });
});

describe("the width", () => {
  test("doubles after an acknowledgement slower than a second, which asks for the shard count at once", () => {
    expect(SLOW_ACK_MS).toBe(1_000);
    const spread = knowing(100);
    expect([spread._acknowledged(SLOW_ACK_MS), spread._width()]).toEqual([false, 100]);
    expect([spread._acknowledged(SLOW_ACK_MS + 1), spread._width()]).toEqual([true, 200]);
    expect([spread._acknowledged(10 * SLOW_ACK_MS), spread._width()]).toEqual([true, 200]);
  });

  test("is the shard count again with the next fast acknowledgement", () => {
    const spread = knowing(100);
    spread._acknowledged(SLOW_ACK_MS + 1);
    expect([spread._acknowledged(SLOW_ACK_MS), spread._width()]).toEqual([false, 100]);
  });

  test("stays wide when a new shard count is learned meanwhile", () => {
    const spread = knowing(1);
    spread._acknowledged(SLOW_ACK_MS + 1);
    spread._learn(now, 50);
    expect(spread._width()).toBe(100);
  });

  test("is never more than 10,000, however many shards there are said to be", () => {
    const spread = knowing(9_000);
    spread._acknowledged(SLOW_ACK_MS + 1);
    expect([spread._width(), knowing(20_000)._width(), knowing(Number.POSITIVE_INFINITY)._width()]).toEqual([
      10_000, 10_000, 10_000,
    ]);
  });
});

test("the turns of a client start at random among the 32 slots and grow by one", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.nat(100), (draw, n) => {
      const spread = createSpread(() => draw);
      write(spread, n);
      return spread._nextTurn() === Math.floor(draw * 32) + n;
    }),
  );
});

test("whatever a client lives through, it spreads as the history of what it learned and saw says", () => {
  type Step = { learn: unknown } | { ack: number } | { wait: number };
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      learn: fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.constantFrom(undefined, ...malformed)),
    }),
    { weight: 8, arbitrary: fc.record({ ack: fc.constantFrom(0, 30, SLOW_ACK_MS, SLOW_ACK_MS + 1, 60_000) }) },
    fc.record({ wait: fc.constantFrom(1, 500, SHARD_COUNT_TTL_MS / 2, SHARD_COUNT_TTL_MS) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const spread = createSpread(() => 0);
      let time = now;
      for (const [i, last] of steps.entries()) {
        if ("wait" in last) time += last.wait;
        if ("learn" in last) spread._learn(time, last.learn);
        if ("ack" in last) {
          spread._nextTurn();
          expect(spread._acknowledged(last.ack)).toBe(last.ack > SLOW_ACK_MS);
        }

        const history = steps.slice(0, i + 1);
        const askedAt = history.findLastIndex((one) => "learn" in one);
        const since = history.slice(askedAt + 1);
        const age = since.reduce((sum, one) => sum + ("wait" in one ? one.wait : 0), 0);
        const busy = since.filter((one) => "ack" in one).length >= BUSY_WRITES;
        expect(spread._isStale(time)).toBe(askedAt < 0 || age >= SHARD_COUNT_TTL_MS || busy);

        const learned = history.flatMap((one) => ("learn" in one && one.learn !== undefined ? [one.learn] : [])).at(-1);
        const count = learned === undefined || malformed.includes(learned as never) ? 1 : (learned as number);
        const slow = (history.flatMap((one) => ("ack" in one ? [one.ack] : [])).at(-1) ?? 0) > SLOW_ACK_MS;
        expect(spread._width()).toBe(Math.min(slow ? 2 * count : count, MAX_SHARDS));
      }
    }),
  );
});

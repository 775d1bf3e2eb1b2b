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
    expect([spread._width(now), spread._isStale(now)]).toEqual([1, true]);
  });

  test("is used for a minute", () => {
    const spread = knowing(8);
    expect(spread._width(now)).toBe(8);
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
    expect([spread._width(now), spread._isStale(now)]).toEqual([9, false]);
  });

  test("stays, and is not asked for again at once, when it could not be read", () => {
    const spread = knowing(8);
    write(spread, BUSY_WRITES);
    spread._learn(now + SHARD_COUNT_TTL_MS);
    expect([spread._width(now), spread._isStale(now + SHARD_COUNT_TTL_MS)]).toEqual([8, false]);
    expect(spread._isStale(now + 2 * SHARD_COUNT_TTL_MS)).toBe(true);
  });

  test.each(malformed)("is one shard if the counter says %j, whatever was known before", (shardCount) => {
    const spread = knowing(8);
    spread._learn(now, shardCount);
    expect([spread._width(now), spread._isStale(now)]).toEqual([1, false]);
  });
});

/** A write that took so long. */
function acknowledged(spread: Spread, tookMs: number): void {
  spread._sent(now - tookMs);
  spread._answered(now);
}

describe("while writes are slow", () => {
  const state = (spread: Spread, at = now) => [spread._isStale(at), spread._width(at)];

  test("the width doubles, and the shard count is asked for: once the oldest has waited for more than a second", () => {
    expect(SLOW_ACK_MS).toBe(1_000);
    const spread = knowing(100);
    spread._sent(now);
    spread._sent(now + 500);
    expect(state(spread, now + SLOW_ACK_MS)).toEqual([false, 100]);
    expect(state(spread, now + SLOW_ACK_MS + 1)).toEqual([true, 200]);
    spread._learn(now + SLOW_ACK_MS + 1, 150);
    expect(state(spread, now + SLOW_ACK_MS + 1)).toEqual([true, 300]);
    spread._answered(now + SLOW_ACK_MS);
    expect(state(spread, now + SLOW_ACK_MS + 1)).toEqual([false, 150]);
    expect(state(spread, now + 500 + SLOW_ACK_MS + 1)).toEqual([true, 300]);
  });

  test("what was known is stale after an acknowledgement slower than that, until the shard count is learned anew", () => {
    const spread = knowing(100);
    acknowledged(spread, SLOW_ACK_MS);
    expect(state(spread)).toEqual([false, 100]);
    acknowledged(spread, SLOW_ACK_MS + 1);
    expect(state(spread)).toEqual([true, 100]);
    acknowledged(spread, SLOW_ACK_MS);
    expect(state(spread)).toEqual([true, 100]);
    spread._learn(now, 200);
    expect(state(spread)).toEqual([false, 200]);
  });

  test("an answer to nothing that was sent changes nothing", () => {
    const spread = knowing(100);
    spread._answered(now);
    expect(state(spread)).toEqual([false, 100]);
  });

  test("the width is never more than 10,000, however many shards there are said to be", () => {
    const spread = knowing(9_000);
    spread._sent(now - SLOW_ACK_MS - 1);
    expect([spread._width(now), knowing(20_000)._width(now), knowing(Number.POSITIVE_INFINITY)._width(now)]).toEqual([
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
  type Step = { learn: unknown } | { send: true } | { answer: true } | { wait: number };
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      learn: fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.constantFrom(undefined, ...malformed)),
    }),
    { weight: 4, arbitrary: fc.constant({ send: true as const }) },
    { weight: 4, arbitrary: fc.constant({ answer: true as const }) },
    fc.record({ wait: fc.constantFrom(1, 500, SLOW_ACK_MS, SHARD_COUNT_TTL_MS / 2, SHARD_COUNT_TTL_MS) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const spread = createSpread(() => 0);
      let time = now;
      let underWay: number[] = [];
      let disproved = false;
      for (const [i, last] of steps.entries()) {
        if ("wait" in last) time += last.wait;
        if ("learn" in last) spread._learn(time, last.learn);
        if ("send" in last) {
          spread._nextTurn();
          spread._sent(time);
          underWay = [...underWay, time];
        }
        if ("answer" in last) {
          spread._answered(time);
          disproved ||= time - (underWay[0] ?? time) > SLOW_ACK_MS;
          underWay = underWay.slice(1);
        }
        if ("learn" in last) disproved = false;
        const slow = time - (underWay[0] ?? time) > SLOW_ACK_MS;

        const history = steps.slice(0, i + 1);
        const askedAt = history.findLastIndex((one) => "learn" in one);
        const since = history.slice(askedAt + 1);
        const age = since.reduce((sum, one) => sum + ("wait" in one ? one.wait : 0), 0);
        const busy = since.filter((one) => "send" in one).length >= BUSY_WRITES;
        expect(spread._isStale(time)).toBe(slow || disproved || askedAt < 0 || age >= SHARD_COUNT_TTL_MS || busy);

        const learned = history.flatMap((one) => ("learn" in one && one.learn !== undefined ? [one.learn] : [])).at(-1);
        const count = learned === undefined || malformed.includes(learned as never) ? 1 : (learned as number);
        expect(spread._width(time)).toBe(Math.min(slow ? 2 * count : count, MAX_SHARDS));
      }
    }),
  );
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_SHARDS } from "../../core/src/index.ts";
import { BUSY_TTL_MS, BUSY_WRITES, SHARD_COUNT_TTL_MS, SLOW_ACK_MS, Spread } from "./spread.ts";

const now = 1_700_000_000_000;
const malformed = [undefined, null, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "8", [8], {}];

function knowing(shardCount: unknown): Spread {
  const spread = new Spread(() => 0);
  spread.learn(shardCount, now);
  return spread;
}

function write(spread: Spread, times: number): void {
  for (let i = 0; i < times; i++) spread.nextTurn();
}

describe("what is known of the shard count", () => {
  test("is nothing at first: one shard, to be asked for at once", () => {
    const spread = new Spread(() => 0);
    expect([spread.width, spread.isStale(0)]).toEqual([1, true]);
  });

  test("is used for a minute", () => {
    const spread = knowing(8);
    expect(spread.width).toBe(8);
    expect(SHARD_COUNT_TTL_MS).toBe(60_000);
    expect(spread.isStale(now)).toBe(false);
    expect(spread.isStale(now + SHARD_COUNT_TTL_MS - 1)).toBe(false);
    expect(spread.isStale(now + SHARD_COUNT_TTL_MS)).toBe(true);
  });

  test("is used for two seconds by a writer of 20, until it is learned anew", () => {
    expect([BUSY_WRITES, BUSY_TTL_MS]).toEqual([20, 2_000]);
    const spread = knowing(8);
    write(spread, BUSY_WRITES - 1);
    expect(spread.isStale(now + BUSY_TTL_MS)).toBe(false);
    write(spread, 1);
    expect(spread.isStale(now + BUSY_TTL_MS - 1)).toBe(false);
    expect(spread.isStale(now + BUSY_TTL_MS)).toBe(true);
    spread.learn(9, now + BUSY_TTL_MS);
    expect([spread.width, spread.isStale(now + 2 * BUSY_TTL_MS)]).toEqual([9, false]);
  });

  test("stays, and is not asked for again at once, when it could not be read", () => {
    const spread = knowing(8);
    spread.triedInVain(now + SHARD_COUNT_TTL_MS);
    expect([spread.width, spread.isStale(now + SHARD_COUNT_TTL_MS)]).toEqual([8, false]);
    expect(spread.isStale(now + 2 * SHARD_COUNT_TTL_MS)).toBe(true);
  });

  test.each(malformed)("is one shard if the counter says %j", (shardCount) => {
    expect([knowing(shardCount).width, knowing(shardCount).isStale(now)]).toEqual([1, false]);
  });
});

describe("the width", () => {
  test("doubles after an acknowledgement slower than a second, which asks for the shard count at once", () => {
    expect(SLOW_ACK_MS).toBe(1_000);
    const spread = knowing(100);
    expect([spread.acknowledged(SLOW_ACK_MS), spread.width]).toEqual([false, 100]);
    expect([spread.acknowledged(SLOW_ACK_MS + 1), spread.width]).toEqual([true, 200]);
    expect([spread.acknowledged(10 * SLOW_ACK_MS), spread.width]).toEqual([true, 200]);
  });

  test("narrows again with each fast acknowledgement, until it is the shard count", () => {
    const spread = knowing(100);
    spread.acknowledged(SLOW_ACK_MS + 1);
    const widths = [1, 2, 3, 4, 5, 6, 7, 8].map(() => {
      spread.acknowledged(0);
      return spread.width;
    });
    expect(widths).toEqual([180, 162, 146, 132, 119, 107, 100, 100]);
  });

  test("is never more than 10,000, however many shards there are said to be", () => {
    const spread = knowing(9_000);
    spread.acknowledged(SLOW_ACK_MS + 1);
    expect([spread.width, knowing(20_000).width]).toEqual([10_000, 10_000]);
  });

  test("stays wide when a new shard count is learned meanwhile", () => {
    const spread = knowing(1);
    spread.acknowledged(SLOW_ACK_MS + 1);
    spread.learn(50, now);
    expect(spread.width).toBe(100);
  });
});

test("the turns of a client start at random among the 32 slots and grow by one", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.nat(100), (draw, n) => {
      const spread = new Spread(() => draw);
      write(spread, n);
      return spread.nextTurn() === Math.floor(draw * 32) + n;
    }),
  );
});

test("whatever a client lives through, it spreads as the history of what it learned and saw says", () => {
  type Step = { learn: unknown } | { ack: number } | { wait: number };
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ learn: fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.constantFrom(...malformed)) }),
    fc.record({ ack: fc.constantFrom(0, 30, SLOW_ACK_MS, SLOW_ACK_MS + 1, 60_000) }),
    fc.record({ wait: fc.constantFrom(1, 500, BUSY_TTL_MS, SHARD_COUNT_TTL_MS) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const spread = new Spread(() => 0);
      let time = now;
      for (const [i, last] of steps.entries()) {
        if ("wait" in last) time += last.wait;
        if ("learn" in last) spread.learn(last.learn, time);
        if ("ack" in last) {
          spread.nextTurn();
          spread.acknowledged(last.ack);
        }

        const history = steps.slice(0, i + 1);
        const learnedAt = history.findLastIndex((one) => "learn" in one);
        const since = history.slice(learnedAt + 1);
        const age = since.reduce((sum, one) => sum + ("wait" in one ? one.wait : 0), 0);
        const busy = since.filter((one) => "ack" in one).length >= BUSY_WRITES;
        expect(spread.isStale(time)).toBe(learnedAt < 0 || age >= (busy ? BUSY_TTL_MS : SHARD_COUNT_TTL_MS));

        const acks = history.flatMap((one) => ("ack" in one ? [one.ack] : []));
        const slowest = acks.findLastIndex((ack) => ack > SLOW_ACK_MS);
        const factor = slowest < 0 ? 1 : Math.max(1, 2 * 0.9 ** (acks.length - 1 - slowest));
        const learned = history[learnedAt] as { learn: unknown } | undefined;
        const count = malformed.includes(learned?.learn as never) ? 1 : Math.min(learned?.learn as number, MAX_SHARDS);
        expect(Math.abs(spread.width - Math.min(count * factor, MAX_SHARDS))).toBeLessThan(1 + 1e-6);
        expect(spread.width).toBeGreaterThanOrEqual(count);
        expect(spread.width).toBeLessThanOrEqual(Math.min(2 * count, MAX_SHARDS));
      }
    }),
  );
});

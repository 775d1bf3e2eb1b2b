import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_SHARDS } from "../../core/src/index.ts";
import { BUSY_WRITES, SHARD_COUNT_TTL_MS, SLOW_ACK_MS } from "./patience.ts";
import { createSpread, type Spread } from "./spread.ts";

const START = 1_700_000_000_000;
/** What a counter cannot sensibly say. */
const malformed = [null, 0, -1, 0.5, Number.NaN, Number.NEGATIVE_INFINITY, "many", "", false, [], {}];

/** A client whose clock is set by hand. */
interface Client {
  readonly spread: Spread;
  /** How wide it spreads, and what speaks against that, so much later. */
  later(millis?: number): [width: number, doubt: number];
}

function client(...learned: Parameters<Spread["_learn"]>): Client {
  let now = START;
  const spread = createSpread(
    () => 0,
    () => now,
  );
  if (learned.length > 0) spread._learn(...learned);
  const later = (millis = 0): [number, number] => {
    now += millis;
    return [spread._width(), spread._doubt()];
  };
  return { spread, later };
}

function write({ spread }: Client, times: number): void {
  for (let i = 0; i < times; i++) spread._nextTurn();
}

describe("what is known of the shard count", () => {
  test("is nothing at first: one shard, to be asked for before the first write", () => {
    expect(client().later()).toEqual([1, 2]);
  });

  test("is used for a minute, then it is asked for before the next write", () => {
    expect(SHARD_COUNT_TTL_MS).toBe(60_000);
    const one = client(8);
    expect([one.later(), one.later(SHARD_COUNT_TTL_MS - 1), one.later(1)]).toEqual([
      [8, 0],
      [8, 0],
      [8, 2],
    ]);
  });

  test("is asked for after 20 writes, which wait for nothing", () => {
    expect(BUSY_WRITES).toBe(20);
    const one = client(8);
    write(one, BUSY_WRITES - 1);
    expect(one.later()).toEqual([8, 0]);
    write(one, 1);
    expect(one.later()).toEqual([8, 1]);
    one.spread._learn(9);
    expect(one.later()).toEqual([9, 0]);
  });

  test("stays, and is not asked for again at once, when it could not be read", () => {
    const one = client(8);
    write(one, BUSY_WRITES);
    one.later(SHARD_COUNT_TTL_MS);
    one.spread._learn();
    expect([one.later(), one.later(SHARD_COUNT_TTL_MS)]).toEqual([
      [8, 0],
      [8, 2],
    ]);
  });

  test.each(malformed)("is one shard if the counter says %j, whatever was known before", (shardCount) => {
    const one = client(8);
    one.spread._learn(shardCount);
    expect(one.later()).toEqual([1, 0]);
  });

  test("is doubtful, but used, when the counter has just grown: more growth may follow", () => {
    const one = client(20, true);
    expect([client(20, undefined).later(), client(20, false).later(), one.later()]).toEqual([
      [20, 0],
      [20, 0],
      [20, 2],
    ]);
    one.spread._learn(200, false);
    expect(one.later()).toEqual([200, 0]);
  });
});

describe("while writes are slow", () => {
  test("the width doubles, and the shard count is asked for: once the oldest has waited for more than a second", () => {
    expect(SLOW_ACK_MS).toBe(1_000);
    const one = client(100);
    one.spread._sent();
    one.later(500);
    one.spread._sent();
    expect([one.later(500), one.later(1)]).toEqual([
      [100, 0],
      [200, 2],
    ]);
    one.spread._learn(150);
    expect(one.later()).toEqual([300, 2]);
  });

  test("the next oldest counts from when it was sent", () => {
    const one = client(100);
    one.spread._sent();
    one.later(500);
    one.spread._sent();
    one.later(500);
    one.spread._answered();
    expect([one.later(500), one.later(1)]).toEqual([
      [100, 0],
      [200, 2],
    ]);
  });

  /** After a write that took so long. */
  const acknowledged = (tookMs: number, one = client(100)) => {
    one.spread._sent();
    one.later(tookMs);
    one.spread._answered();
    return one;
  };

  test("what was known is doubtful after a slow acknowledgement, until the shard count is learned anew", () => {
    expect(acknowledged(SLOW_ACK_MS).later()).toEqual([100, 0]);
    const one = acknowledged(SLOW_ACK_MS + 1);
    expect(one.later()).toEqual([100, 2]);
    expect(acknowledged(SLOW_ACK_MS, one).later()).toEqual([100, 2]);
    one.spread._learn(200);
    expect(one.later()).toEqual([200, 0]);
  });

  test("an answer to nothing that was sent changes nothing", () => {
    const one = client(100);
    one.spread._answered();
    expect(one.later()).toEqual([100, 0]);
  });

  test("the width is never more than 10,000, however many shards there are said to be", () => {
    const slow = client(9_000);
    slow.spread._sent();
    const widths = [slow.later(SLOW_ACK_MS + 1), client(20_000).later(), client(Number.POSITIVE_INFINITY).later()];
    expect(widths.map(([width]) => width)).toEqual([10_000, 10_000, 10_000]);
  });
});

test("the turns of a client start at random among the 32 slots and grow by one", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.nat(100), (draw, n) => {
      const spread = createSpread(() => draw, Date.now);
      for (let i = 0; i < n; i++) spread._nextTurn();
      return spread._nextTurn() === Math.floor(draw * 32) + n;
    }),
  );
});

test("whatever a client lives through, it spreads as the history of what it learned and saw says", () => {
  type Step = { learn: unknown; growing?: boolean } | { send: true } | { answer: true } | { wait: number };
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ learn: fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.constantFrom(undefined, ...malformed)) }),
    fc.record({ learn: fc.integer({ min: 1, max: 300 }), growing: fc.boolean() }),
    { weight: 4, arbitrary: fc.constant({ send: true as const }) },
    { weight: 4, arbitrary: fc.constant({ answer: true as const }) },
    fc.record({ wait: fc.constantFrom(1, 500, SLOW_ACK_MS, SHARD_COUNT_TTL_MS / 2, SHARD_COUNT_TTL_MS) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const { spread, later } = client();
      let time = 0;
      let underWay: number[] = [];
      let disproved = true;
      for (const [i, last] of steps.entries()) {
        if ("wait" in last) {
          later(last.wait);
          time += last.wait;
        }
        if ("send" in last) {
          spread._nextTurn();
          spread._sent();
          underWay = [...underWay, time];
        }
        if ("answer" in last) {
          spread._answered();
          disproved ||= time - (underWay[0] ?? time) > SLOW_ACK_MS;
          underWay = underWay.slice(1);
        }

        const history = steps.slice(0, i + 1);
        const learned = history.flatMap((one) => ("learn" in one && one.learn !== undefined ? [one.learn] : [])).at(-1);
        const count = learned === undefined || malformed.includes(learned as never) ? 1 : (learned as number);
        if ("learn" in last) {
          spread._learn(last.learn, last.growing);
          disproved = last.growing === true;
        }
        const since = history.slice(history.findLastIndex((one) => "learn" in one) + 1);
        const age = since.reduce((sum, one) => sum + ("wait" in one ? one.wait : 0), 0);
        const isBusy = since.filter((one) => "send" in one).length >= BUSY_WRITES;
        const isSlow = time - (underWay[0] ?? time) > SLOW_ACK_MS;
        const doubt = isSlow || disproved || age >= SHARD_COUNT_TTL_MS ? 2 : isBusy ? 1 : 0;
        expect(later()).toEqual([Math.min(isSlow ? 2 * count : count, MAX_SHARDS), doubt]);
      }
    }),
  );
});

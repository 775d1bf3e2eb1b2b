import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { missedExchangeAt, nextAttemptAt, nextExchangeAt } from "./schedule.ts";

const config = { exchangeInterval: 1_000 };

describe("the exchange of a publish", () => {
  test("follows the first publish soon, and the next ones an interval apart", () => {
    expect(nextExchangeAt(undefined, 10_000, config)).toBe(10_200);
    expect(nextExchangeAt(10_200, 10_100, config)).toBe(10_200);
    expect(nextExchangeAt(10_200, 10_500, config)).toBe(11_200);
    expect(nextExchangeAt(10_200, 99_000, config)).toBe(99_200);
  });

  test("is later than the instant of the publish, by an interval and 201 ms at most", () => {
    fc.assert(
      fc.property(
        fc.option(fc.nat(), { nil: undefined }),
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        (before, asOf) => {
          const at = nextExchangeAt(before, asOf, config);
          expect(at).toBeGreaterThan(asOf);
          expect(at).toBeLessThanOrEqual(asOf + 1_201);
        },
      ),
    );
  });
});

describe("a publish that its exchange has missed", () => {
  test("was committed at the instant of the exchange, or later", () => {
    expect(missedExchangeAt({ exchangeAt: 300, asOf: 100 }, 299)).toBeUndefined();
    expect(missedExchangeAt({ exchangeAt: 300, asOf: 100 }, 300.5)).toBe(301);
  });

  test("changed the total: others have no exchange", () => {
    expect(missedExchangeAt({ exchangeAt: 300, asOf: 400 }, 500)).toBeUndefined();
    expect(missedExchangeAt({ exchangeAt: undefined, asOf: 400 }, 500)).toBeUndefined();
  });
});

describe("the next attempt to reach a region", () => {
  test("comes within 2 s at first, within 4 s after a minute, and within 64 s after 17 minutes", () => {
    expect(nextAttemptAt(1_000, 1_000)).toBe(2_000);
    expect(nextAttemptAt(0, 61_000)).toBe(62_000);
    expect(nextAttemptAt(0, 65_000)).toBe(68_000);
    expect(nextAttemptAt(0, 1_023_000)).toBe(1_024_000);
    expect(nextAttemptAt(0, 1_024_000)).toBe(1_024_000 + 64_000);
    expect(nextAttemptAt(0, 86_400_000)).toBe(86_400_000 + 64_000);
  });

  test("of attempts that began earlier is one of those that began later", () => {
    fc.assert(
      fc.property(fc.nat(1e8), fc.nat(1e8), (elapsed, more) => {
        const now = elapsed + more;
        const [early, late] = [nextAttemptAt(0, now), nextAttemptAt(more, now)];
        expect(early % (late - Math.floor((late - 1) / 2_000) * 2_000)).toBe(0);
        expect(early).toBeGreaterThan(now);
        expect(late).toBeLessThanOrEqual(early);
      }),
    );
  });
});

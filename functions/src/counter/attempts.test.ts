import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextAttemptAt } from "./attempts.ts";

describe("the next attempt", () => {
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

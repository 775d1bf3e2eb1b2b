/** The bound of a rate limit over every window, with any mix of calls and leases. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../core/testing/runs.ts";
import { decideGrant, type Limit, limitOf, type Micros, waitFor } from "./leaseDecision.ts";

/** One transaction of some process, and what becomes of what it grants. */
interface Step {
  /** Since the transaction before, of whatever process; in refills. */
  readonly gap: number;
  readonly calls: readonly number[];
  readonly lease: number;
  /** How long before the server's time the process began: its lease ends so much earlier. In leases' lives. */
  readonly delay: number;
  /** When each use of the lease is made, in leases' lives from the beginning. Those beyond its end are never made. */
  readonly usedAt: readonly number[];
  /** Whether the process dies, or hears no answer, before it uses anything. */
  readonly dies: boolean;
}

const options = fc.record({
  limit: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.double({ min: 0.1, max: 2_000, noNaN: true })),
  per: fc.constantFrom(1, 7, 1_000, 60_000, 3_600_000),
  burst: fc.integer({ min: 1, max: 40 }),
});

const life = fc.oneof(fc.constantFrom(0, 0.999, 1), fc.double({ min: 0, max: 1, noNaN: true }));
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    gap: fc.oneof(fc.constantFrom(0, 0.25, 0.5, 1), fc.double({ min: 0, max: 1.5, noNaN: true })),
    calls: fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 4 }),
    lease: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 100 })),
    delay: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, life),
    usedAt: fc.array(life, { minLength: 1, maxLength: 5 }),
    dies: fc.boolean(),
  }),
  { minLength: 1, maxLength: 30 },
);

/** When each use is made: those of calls at the server's time, those of leases at any time of their lives. */
function usesOf(all: readonly Step[], limit: Limit, decide = decideGrant): Micros[] {
  let now: Micros = 0;
  let tat: Micros | undefined;
  const uses: Micros[] = [];
  for (const { gap, calls, lease, delay, usedAt, dies } of all) {
    now += Math.round(gap * limit.refill);
    const possible = calls.filter((n) => n <= limit.burst);
    const grant = decide(tat, now, possible, lease, limit);
    tat = grant.tat;
    if (dies) continue;
    for (const [i, n] of possible.entries()) if (grant.allowed[i]) uses.push(...Array(n).fill(now));
    const began = now - delay * limit.leaseLife;
    for (let i = 0; i < grant.leased; i++) {
      const at = began + (usedAt[i % usedAt.length] as number) * limit.leaseLife;
      if (at >= now) uses.push(at);
    }
  }
  return uses.sort((a, b) => a - b);
}

/** By how many uses the fullest window is beyond the limit. Only windows that begin and end with a use need be looked at. */
function excess(uses: readonly Micros[], { limit, per, burst }: { limit: number; per: number; burst: number }): number {
  let most = Number.NEGATIVE_INFINITY;
  // The number of uses up to one, less what the rate allows, above its minimum before.
  let least = Number.POSITIVE_INFINITY;
  uses.forEach((at, i) => {
    const allowed = ((at - (uses[0] as Micros)) * limit) / (per * 1_000);
    least = Math.min(least, i - allowed);
    most = Math.max(most, i + 1 - allowed - least - burst);
  });
  return most;
}

const ROUNDING = 1e-6;

describe("the bound", () => {
  test("in every window, at most burst + rate · window uses are made, by calls and leases in any mix", () => {
    fc.assert(
      fc.property(options, steps, (given, all) => {
        expect(excess(usesOf(all, limitOf(given)), given)).toBeLessThanOrEqual(ROUNDING);
      }),
      runs(2_000),
    );
  });

  test("is broken, and the check sees it, if a lease counted when it is granted instead of when it ends", () => {
    const broken: typeof decideGrant = (tat, now, calls, lease, limit) =>
      decideGrant(tat, now, calls, lease, { ...limit, leaseLife: 0 });
    const outcome = fc.check(
      fc.property(options, steps, (given, all) => excess(usesOf(all, limitOf(given), broken), given) <= ROUNDING),
      { numRuns: 2_000 },
    );
    expect(outcome.failed).toBe(true);
  });
});

describe("a grant", () => {
  test("is as large as the limit permits: one use more would have broken the bound, if all are used as late as they may be", () => {
    fc.assert(
      fc.property(options, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 10 }), (given, gaps) => {
        const limit = limitOf(given);
        let now: Micros = 1e15;
        let tat: Micros | undefined;
        for (const gap of gaps) {
          now += Math.round(gap * limit.refill);
          const { allowed, tat: next } = decideGrant(tat, now, [1], 0, limit);
          expect(allowed).toEqual([tat === undefined || waitFor(1, Math.max(tat, now), now, limit) <= 0]);
          tat = next;
        }
      }),
    );
  });

  test("allows the whole burst at once to a new key, and not one use more", () => {
    fc.assert(
      fc.property(options, (given) => {
        const limit = limitOf(given);
        const { allowed, tat } = decideGrant(undefined, 1e15, [limit.burst, 1], 5, limit);
        expect(allowed).toEqual([true, false]);
        expect(tat).toBe(1e15 + limit.refill);
      }),
    );
  });

  test("of a refused call is made after the wait it was told, and not a microsecond earlier", () => {
    fc.assert(
      fc.property(options, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (given, amounts) => {
        const limit = limitOf(given);
        const calls = amounts.map((n) => Math.min(n, limit.burst));
        const { allowed, tat } = decideGrant(undefined, 1e15, calls, 0, limit);
        for (const n of calls.filter((_, i) => !allowed[i])) {
          const wait = waitFor(n, tat, 1e15, limit);
          expect(wait).toBeGreaterThan(0);
          expect(decideGrant(tat, 1e15 + wait, [n], 0, limit).allowed).toEqual([true]);
          expect(decideGrant(tat, 1e15 + wait - 1, [n], 0, limit).allowed).toEqual([false]);
        }
      }),
    );
  });

  test("serves calls in their order, each as if it were alone", () => {
    const limit = limitOf({ limit: 10, per: 1_000 });
    const { allowed } = decideGrant(undefined, 1e15, [7, 5, 2, 1, 1], 0, limit);
    expect(allowed).toEqual([true, false, true, true, false]);
  });

  test("changes nothing if all calls are refused, and leases nothing then", () => {
    const limit = limitOf({ limit: 10, per: 1_000 });
    expect(decideGrant(1e15 + 950_000, 1e15, [1], 5, limit)).toEqual({
      allowed: [false],
      leased: 0,
      tat: 1e15 + 950_000,
    });
  });

  test("leases at most what the burst leaves after a lease's life, and nothing of a burst of 1", () => {
    const lease = (given: { limit: number; per: number; burst?: number }) =>
      decideGrant(undefined, 1e15, [], 1e6, limitOf(given)).leased;
    expect(lease({ limit: 800, per: 1_000 })).toBe(400);
    expect(lease({ limit: 800, per: 1_000, burst: 8_000 })).toBe(7_200);
    expect(lease({ limit: 800, per: 1_000, burst: 1 })).toBe(0);
  });

  test("heals a document of other options: no wait is longer than a refill", () => {
    const limit = limitOf({ limit: 10, per: 1_000 });
    const { tat } = decideGrant(9e15, 1e15, [1], 0, limit);
    expect(waitFor(1, tat, 1e15, limit)).toBe(100_000);
  });
});

describe("options", () => {
  test.each([
    ["limit", { limit: 0, per: 1 }],
    ["limit", { limit: Number.NaN, per: 1 }],
    ["limit", { limit: "5", per: 1 }],
    ["per", { limit: 1, per: -1 }],
    ["per", { limit: 1, per: Number.POSITIVE_INFINITY }],
    ["burst", { limit: 1, per: 1, burst: 1.5 }],
    ["burst", { limit: 1, per: 1, burst: 0 }],
    ["burst", { limit: 1, per: 1, burst: {} }],
    ["ten years", { limit: 1, per: 1e300 }],
  ])("are refused because of their %s: %j", (what, given) => {
    expect(() => limitOf(given as never)).toThrow(
      expect.objectContaining({ code: "counter/invalid-option", message: expect.stringContaining(what) }),
    );
  });

  test("have a default burst: the limit, as a whole number", () => {
    expect(limitOf({ limit: 5, per: 1_000 })).toEqual({ burst: 5, refill: 1_000_000, leaseLife: 500_000 });
    expect(limitOf({ limit: 0.5, per: 1_000 })).toEqual({ burst: 1, refill: 2_000_000, leaseLife: 1_000_000 });
  });
});

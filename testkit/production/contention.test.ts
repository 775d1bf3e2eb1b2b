import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WriteLimiter } from "./contention.ts";

const limits = { perSecond: 2, burst: 3, longestWait: 1_000 };

describe("a document", () => {
  test("takes a burst after a rest at once, then what it sustains", () => {
    const documents = new WriteLimiter(limits);
    const waits = Array.from({ length: 5 }, () => documents.admit(["a"], 0));
    expect(waits).toEqual([0, 0, 0, 500, 1_000]);
  });

  test("refuses a write that would wait too long, without a delay for later writes", () => {
    const documents = new WriteLimiter(limits);
    for (let n = 0; n < 5; n++) documents.admit(["a"], 0);
    expect(documents.admit(["a"], 0)).toBeUndefined();
    expect(documents.admit(["a"], 499)).toBeUndefined();
    expect(documents.admit(["a"], 500)).toBe(1_000);
  });

  test("is rested when no write came for as long as its burst takes, and no sooner", () => {
    const documents = new WriteLimiter(limits);
    for (let n = 0; n < 3; n++) documents.admit(["a"], 0);
    expect(Array.from({ length: 3 }, () => documents.admit(["a"], 1_000))).toEqual([0, 0, 500]);
    const rested = new WriteLimiter(limits);
    for (let n = 0; n < 3; n++) rested.admit(["a"], 0);
    expect(Array.from({ length: 4 }, () => rested.admit(["a"], 60_000))).toEqual([0, 0, 0, 500]);
  });
});

describe("a commit of several documents", () => {
  test("waits for the slowest", () => {
    const documents = new WriteLimiter(limits);
    for (let n = 0; n < 4; n++) documents.admit(["hot"], 0);
    expect(documents.admit(["hot", "cold"], 0)).toBe(1_000);
  });

  test("takes no token of any document if it is refused for one", () => {
    const documents = new WriteLimiter(limits);
    for (let n = 0; n < 5; n++) documents.admit(["hot"], 0);
    for (let n = 0; n < 9; n++) expect(documents.admit(["hot", "cold"], 0)).toBeUndefined();
    expect(Array.from({ length: 3 }, () => documents.admit(["cold"], 0))).toEqual([0, 0, 0]);
  });
});

test("no document is written faster than its burst and rate allow, or later than the longest wait", () => {
  const arrivals = fc.array(fc.record({ after: fc.nat(800), name: fc.constantFrom("a", "b") }), { maxLength: 60 });
  fc.assert(
    fc.property(arrivals, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 5 }), (writes, rate, burst) => {
      const documents = new WriteLimiter({ perSecond: rate, burst, longestWait: 1_000 });
      const served: Record<string, number[]> = { a: [], b: [] };
      let now = 0;
      for (const { after, name } of writes) {
        now += after;
        const wait = documents.admit([name], now);
        if (wait === undefined) continue;
        expect(wait).toBeLessThanOrEqual(1_000);
        served[name]?.push(now + wait);
      }
      for (const times of Object.values(served)) {
        for (const [n, from] of times.entries()) {
          for (const [m, to] of times.slice(n).entries()) {
            expect(m + 1).toBeLessThanOrEqual(burst + ((to - from) * rate) / 1_000 + 1e-6);
          }
        }
      }
    }),
  );
});

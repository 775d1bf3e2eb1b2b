import fc from "fast-check";
import { expect, test } from "vitest";
import { due, type Pace } from "./pace.ts";

test("a steady rate, whenever the timer fires, and no burst after it did not", () => {
  const gaps = fc.array(fc.integer({ min: 1, max: 240 }), { minLength: 20, maxLength: 100 });
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 500 }), (gaps, perSecond) => {
      let pace: Pace = { owed: 0, at: 0 };
      let begun = 0;
      for (const gap of gaps) {
        const next = due(pace, perSecond, pace.at + gap);
        pace = next.pace;
        begun += next.begin;
      }
      const exact = (pace.at * perSecond) / 1_000;
      expect(Math.abs(begun - exact)).toBeLessThanOrEqual(1);
      expect(due(pace, perSecond, pace.at + 60_000).begin).toBeLessThanOrEqual(perSecond / 4 + 1);
    }),
  );
});

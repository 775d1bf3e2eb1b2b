import fc from "fast-check";
import { expect, test } from "vitest";
import { type SteadyRate, takeDue } from "./steadyRate.ts";

test("the rate is steady at any timing of timers, and a long gap causes no burst", () => {
  const gaps = fc.array(fc.integer({ min: 1, max: 240 }), { minLength: 20, maxLength: 100 });
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 500 }), (gaps, perSecond) => {
      let state: SteadyRate = { fraction: 0, at: 0 };
      let sent = 0;
      for (const gap of gaps) {
        const next = takeDue(state, perSecond, state.at + gap);
        state = next.state;
        sent += next.count;
      }
      const exact = (state.at * perSecond) / 1_000;
      expect(Math.abs(sent - exact)).toBeLessThanOrEqual(1);
      expect(takeDue(state, perSecond, state.at + 60_000).count).toBeLessThanOrEqual(perSecond / 4 + 1);
    }),
  );
});

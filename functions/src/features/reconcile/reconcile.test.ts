import fc from "fast-check";
import { expect, test } from "vitest";
import { nextReconcileTime } from "./reconcileDue.ts";

test("a counter is due again at the first future time of its schedule", () => {
  const instant = fc.integer({ min: 1e12, max: 4e12 });
  const every = fc.integer({ min: 300_000, max: 366 * 86_400_000 });
  fc.assert(
    fc.property(instant, every, instant, (due, every, now) => {
      const next = nextReconcileTime(due, every, now);
      expect((next - due) % every).toBe(0);
      expect(next).toBeGreaterThan(Math.max(now, due));
      expect(next - every).toBeLessThanOrEqual(Math.max(now, due));
    }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { latestDeletionTime } from "./events.ts";

test("a deletion is never dated before its commit, even if its event's time is truncated", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 1_700_000_000_000, max: 1_800_000_000_000, noNaN: true }),
      fc.nat(5_000),
      fc.boolean(),
      fc.integer({ min: -5_000, max: 5_000 }),
      (committed, delay, isCut, skew) => {
        // Either the event's time is the commit's, whatever our clock says, or our clock is right.
        const time = new Date(isCut ? Math.floor(committed / 1_000) * 1_000 : committed).toISOString();
        const now = committed + delay + (isCut ? 0 : skew);
        expect(latestDeletionTime(time, now)).toBeGreaterThanOrEqual(committed);
      },
    ),
  );
});

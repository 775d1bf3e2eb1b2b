import fc from "fast-check";
import type { DocumentSnapshot } from "firebase-admin/firestore";
import { expect, test } from "vitest";
import { latestDeletionTime } from "./events.ts";
import { collections } from "./feature.ts";

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

test.each<[countedCollection: unknown, countReads: unknown, parsed: unknown]>([
  ["posts", 42, { path: "posts", reads: 42 }],
  ["posts", undefined, { path: "posts", reads: 0 }],
  ["posts", -1, { path: "posts", reads: 0 }],
  ["posts", Number.NaN, { path: "posts", reads: 0 }],
  [null, 0, null],
  [7, 42, null],
  [undefined, undefined, null],
])(
  "a counter document with countedCollection %j and countReads %j counts %j",
  (countedCollection, countReads, parsed) => {
    const fields: Record<string, unknown> = { countedCollection, countReads };
    const document = { get: (field: string) => fields[field] } as unknown as DocumentSnapshot;
    expect(collections.parse?.(document)).toEqual({ counted: parsed });
  },
);

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../testing/runs.ts";
import {
  chooseSlot,
  isSurelyFree,
  learnUses,
  type RateLimit,
  unknownUses,
  validLimit,
  withoutUse,
  withUse,
} from "./rateLimit.ts";

const limit = { name: "notes", uid: "alice", limit: 3, per: 299, burst: 2 };
/** 199 1/3, rounded up. */
const REST = 200;

describe("a slot", () => {
  test("is free if it was never used", () => {
    expect(chooseSlot(unknownUses(), limit, 0)).toEqual({ slot: 0, state: "free", retryAfter: 0 });
    expect(chooseSlot(withUse(unknownUses(), 0, 0, 10), limit, 20)).toEqual({ slot: 1, state: "free", retryAfter: 0 });
  });

  test("is chosen if its last use is longest ago, and is free after a rest that begins with the answer", () => {
    const known = withUse(withUse(unknownUses(), 1, 0, 10), 0, 20, 30);
    expect(chooseSlot(known, limit, 40)).toEqual({ slot: 1, state: "used", retryAfter: 171 });
    expect(chooseSlot(known, limit, 205)).toEqual({ slot: 1, state: "unknown", retryAfter: 6 });
    expect(chooseSlot(known, limit, 211)).toEqual({ slot: 1, state: "free", retryAfter: 0 });
  });

  test("is not taken while its use is under way", () => {
    const both = withUse(withUse(unknownUses(), 1, 5, Infinity), 0, 0, Infinity);
    expect(chooseSlot(both, limit, 50)).toEqual({ slot: 0, state: "used", retryAfter: 201 });
    expect(chooseSlot(withoutUse(both, 1), limit, 50)).toMatchObject({ slot: 1, state: "free" });
  });
});

/**
 * A server whose clock differs from the client's by any amount, a client whose requests take any time, and other devices that
 * use slots, too. A use happens at the server at some time between sending and answer.
 */
test("a slot reported free is free, and none is free when one is reported used, whatever its clock and its connection", () => {
  const step = fc.record({
    do: fc.constantFrom("use", "use", "use", "other", "read", "readLate", "otherDuringRead", "wait"),
    outward: fc.integer({ min: 0, max: 50 }),
    back: fc.integer({ min: 0, max: 50 }),
    wait: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 500 })),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer(), (steps, ahead) => {
      let now = 1_000;
      /** Slot → server time of the last use. */
      const slots = new Map<number, number>();
      let isKnown = false;
      let known = unknownUses();
      const isFree = (slot: number, at: number) => (slots.get(slot) ?? -Infinity) + REST <= at + ahead;
      /** Another device uses the slot that is free, if there is one. */
      const useElsewhere = (at: number) => {
        const free = [0, 1].find((slot) => isFree(slot, at));
        if (free !== undefined) slots.set(free, at + ahead);
        return free !== undefined;
      };
      const read = (outward: number, back: number) => {
        known = learnUses(known, new Map(slots), limit, now, now + outward + back);
        now += outward + back;
        isKnown = true;
      };
      for (const { do: kind, outward, back, wait } of steps) {
        now += wait;
        if (kind === "other") {
          // It is unknown to this client until the next read, which a refusal brings about.
          if (useElsewhere(now)) isKnown = false;
        } else if (kind === "otherDuringRead") {
          useElsewhere(now + outward);
          read(outward, back);
        } else if (kind === "read" || !isKnown) read(outward, back);
        else if (kind === "use" || kind === "readLate") {
          const { slot, state, retryAfter } = chooseSlot(known, limit, now);
          if (state === "free") expect(isFree(slot, now)).toBe(true);
          if (state === "used") expect([0, 1].some((any) => isFree(any, now))).toBe(false);
          expect(isFree(slot, now + retryAfter)).toBe(true);
          expect(isSurelyFree(known, slot, limit, now)).toBe(state === "free");
          if (state === "used") continue;
          const sent = now;
          const stored = new Map(slots);
          const accepted = isFree(slot, now + outward);
          if (accepted) slots.set(slot, now + outward + ahead);
          now += outward + back;
          if (accepted) known = withUse(known, slot, sent, now);
          else {
            known = withoutUse(known, slot);
            read(outward, back);
          }
          // A read that was served before the use, and is answered after it.
          if (kind === "readLate" && accepted) known = learnUses(known, stored, limit, sent, now);
        }
      }
    }),
    {
      ...runs(2_000),
      // Another device takes a slot during a read that is sent in the millisecond of the last answer.
      examples: [
        [
          [
            ...[1, 2].map(() => ({ do: "use", outward: 0, back: 0, wait: 0 })),
            { do: "readLate", outward: 0, back: 0, wait: 200 },
            { do: "otherDuringRead", outward: 2, back: 0, wait: 0 },
            { do: "use", outward: 0, back: 0, wait: 0 },
          ],
          0,
        ],
      ],
    },
  );
});

test.each([
  { name: "a/b" },
  { name: "" },
  { uid: undefined },
  { uid: "a/b" },
  { limit: 0 },
  { limit: 1.5 },
  { per: 0 },
  { per: 0.5 },
  { per: Number.NaN },
  { burst: 0 },
  { burst: 101 },
  { burst: 1.5 },
  { limit: 1, per: 86_400_001, burst: 1 },
  { limit: 2, per: 86_400_001, burst: 2 },
])("the limit with %j is refused", (changes) => {
  expect(() => validLimit({ ...limit, ...changes } as RateLimit)).toThrow(/^counter\/invalid-option: .*; pass /);
  expect(() => validLimit({ ...limit, limit: 2, per: 86_400_000, burst: 2 })).not.toThrow();
});

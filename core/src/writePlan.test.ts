import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MARK_SLOTS } from "./layout.ts";
import { isCommitted, planIncrement } from "./writePlan.ts";

const rules = readFileSync(new URL("../../firestore.rules", import.meta.url), "utf8");
const noncePattern = new RegExp(/fresh\[0\]\.matches\('(.+?)'\)/.exec(rules)?.[1] ?? "no nonce in firestore.rules");

const draws = fc.oneof(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.constantFrom(0, 1 - 2 ** -53));
/** A source of randomness that repeats some draws. */
const randoms = fc.array(draws, { minLength: 1, maxLength: 20 }).map((values) => {
  let next = 0;
  return () => values[next++ % values.length] ?? 0;
});
const plan = planIncrement("counters", "likes:post42", 7, 1, 35, Math.random);

describe("the plan of an increment", () => {
  test("names the shard document, relative to the database, and the amount", () => {
    expect(plan).toMatchObject({ path: "counters/likes:post42/shards/7", by: 1, slot: "3" });
    expect(planIncrement("c", "x", 0, -2.5, 0, Math.random)).toMatchObject({
      path: "c/x/shards/0",
      by: -2.5,
      slot: "0",
    });
  });

  test("takes the slots in turn: 32 successive plans mark 32 slots, those the rules know", () => {
    const known = [...(/function slots\(\) \{\s*return \[([^\]]*)\]/.exec(rules)?.[1] ?? "").matchAll(/'(\d+)'/g)];
    fc.assert(
      fc.property(fc.nat(), (start) => {
        const slots = Array.from(
          { length: MARK_SLOTS },
          (_, i) => planIncrement("c", "x", 0, 1, start + i, () => 0).slot,
        );
        expect(new Set(slots)).toEqual(new Set(known.map(([, slot]) => slot)));
      }),
    );
    expect(known).toHaveLength(32);
  });

  test("has a nonce of 16 characters that the rules accept, whatever the randomness", () => {
    expect(noncePattern.source).toBe("^[A-Za-z0-9_-]{8,24}$");
    fc.assert(
      fc.property(randoms, (random) => {
        const { nonce } = planIncrement("c", "x", 0, 1, 0, random);
        return nonce.length === 16 && noncePattern.test(nonce);
      }),
    );
  });

  test("draws each character of its nonce from 64, by one draw each: 96 bits", () => {
    let draw = 0;
    const characters = Array.from(
      { length: 4 },
      () => planIncrement("c", "x", 0, 1, 0, () => (draw++ % 64) / 64).nonce,
    );
    expect(new Set(characters.join("")).size).toBe(64);
    expect(draw).toBe(64);
  });
});

describe("a write is known to be committed", () => {
  test("by its nonce in its slot, whatever the other marks are", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything()), (others) =>
        isCommitted(plan, { ...others, [plan.slot]: plan.nonce }),
      ),
    );
  });

  test("but not by another nonce in its slot, nor by its nonce in another slot", () => {
    expect(isCommitted(plan, { [plan.slot]: `${plan.nonce}x` })).toBe(false);
    expect(isCommitted(plan, { [plan.slot]: plan.nonce.toLowerCase() + plan.nonce })).toBe(false);
    expect(isCommitted(plan, { "4": plan.nonce })).toBe(false);
    expect(isCommitted(plan, {})).toBe(false);
  });

  test("and marks that are no map, or hold anything else in its slot, neither prove it nor throw", () => {
    fc.assert(fc.property(fc.anything(), (marks) => !isCommitted(plan, marks)));
    fc.assert(fc.property(fc.anything(), (mark) => !isCommitted(plan, { [plan.slot]: mark })));
    for (const marks of [undefined, null, plan.nonce, [plan.nonce], true, 0])
      expect(isCommitted(plan, marks)).toBe(false);
  });
});

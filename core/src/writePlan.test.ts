import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MARK_SLOTS } from "./layout.ts";
import { planIncrement } from "./writePlan.ts";

const rules = readFileSync(new URL("../../firestore.rules", import.meta.url), "utf8");
const noncePattern = new RegExp(/fresh\[0\]\.matches\('(.+?)'\)/.exec(rules)?.[1] ?? "no nonce in firestore.rules");

const draws = fc.oneof(
  fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  fc.constantFrom(0, 2 ** -53, 0.5, 1 - 2 ** -53),
);
const nonceOf = (draw: number) => planIncrement("c/x", "0", 1, 0, () => draw).nonce;

describe("the plan of an increment", () => {
  test("names the shard document, relative to the database, and the amount; no entry without a key", () => {
    expect(planIncrement("counters/likes:post42", "7", 1, 35, () => 0)).toEqual({
      path: "counters/likes:post42/shards/7",
      by: 1,
      slot: "3",
      nonce: "1000000000000000",
      entry: undefined,
    });
    expect(planIncrement("c/x", "0", -2.5, 0, () => 0)).toMatchObject({ path: "c/x/shards/0", by: -2.5, slot: "0" });
  });

  test("with a key names the entry beside the shards too, and is the same in all else", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.nat(), draws, (key, turn, draw) => {
        const plan = planIncrement("c/x", "4", 2, turn, () => draw);
        const keyed = planIncrement("c/x", "4", 2, turn, () => draw, key);
        expect(keyed).toEqual({ ...plan, entry: `c/x/entries/${key}` });
      }),
    );
  });

  test("takes the slots in turn: 32 successive plans mark 32 slots, those the rules know", () => {
    const known = [...(/function slots\(\) \{\s*return \[([^\]]*)\]/.exec(rules)?.[1] ?? "").matchAll(/'(\d+)'/g)];
    fc.assert(
      fc.property(fc.nat(), (start) => {
        const slots = Array.from(
          { length: MARK_SLOTS },
          (_, i) => planIncrement("c/x", "0", 1, start + i, () => 0).slot,
        );
        expect(new Set(slots)).toEqual(new Set(known.map(([, slot]) => slot)));
      }),
    );
    expect(known).toHaveLength(32);
  });

  test("has a nonce of 8 to 24 characters that the rules accept, whatever the randomness", () => {
    expect(noncePattern.source).toBe("^[A-Za-z0-9_-]{8,24}$");
    fc.assert(
      fc.property(draws, (draw) => {
        expect(nonceOf(draw)).toMatch(noncePattern);
        expect(nonceOf(draw)).toMatch(/^[0-9]{16}$/);
      }),
    );
  });

  test("has as many nonces as a trillion draws: no two of them get the same", () => {
    const draws = fc.nat({ max: 10 ** 12 - 1 }).map((n) => n / 10 ** 12);
    fc.assert(
      fc.property(draws, draws, (one, another) => one === another || nonceOf(one) !== nonceOf(another)),
      { numRuns: 1_000 },
    );
  });
});

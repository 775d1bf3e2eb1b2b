import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MARK_SLOTS } from "./layout.ts";
import { planIncrement, proofOf } from "./writePlan.ts";

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
      nonce: "00000000",
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
        expect(nonceOf(draw)).toMatch(/^[a-z0-9]{8,24}$/);
      }),
    );
  });

  test("has as many nonces as there are draws: 52 bits", () => {
    const bits = fc.bigInt({ min: 0n, max: 2n ** 52n - 1n });
    const other = fc.oneof(bits, fc.constantFrom(1n, 2n, 36n));
    fc.assert(
      fc.property(bits, other, (one, step) => {
        const another = (one + step) % 2n ** 52n;
        fc.pre(one !== another);
        return nonceOf(Number(one) / 2 ** 52) !== nonceOf(Number(another) / 2 ** 52);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("an increment is proved", () => {
  /** What the documents hold once a plan was committed, field by field as the database names them. */
  const shardAfter = (slot: string, nonce: string) => ({ [`marks.${slot}`]: nonce });

  test("by its mark on the shard: another increment leaves another one there, or leaves it elsewhere", () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: MARK_SLOTS - 1 }), (turn, later) => {
        const plan = planIncrement("c/x", "4", 1, turn, Math.random);
        const [path, field, value] = proofOf(plan);
        expect(path).toBe("c/x/shards/4");
        expect(shardAfter(plan.slot, plan.nonce)[field]).toBe(value);

        const sameSlot = planIncrement("c/x", "4", 1, turn + MARK_SLOTS, Math.random);
        expect(shardAfter(sameSlot.slot, sameSlot.nonce)[field]).not.toBe(value);
        expect(proofOf(planIncrement("c/x", "4", 1, turn + later, Math.random))[1]).not.toBe(field);
      }),
    );
  });

  test("by the amount in its entry if it has a key, whichever call made the entry", () => {
    const keyed = () => proofOf(planIncrement("c/x", "4", -2, 9, Math.random, "ada"));
    expect(keyed()).toEqual(["c/x/entries/ada", "by", -2]);
    expect(keyed()).toEqual(keyed());
  });
});

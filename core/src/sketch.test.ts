import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../testing/runs.ts";
import { hashRank, MAX_EXACT, Sketch } from "./sketch.ts";

const hashOf = (visitor: unknown) => createHash("sha256").update(String(visitor)).digest("hex").slice(0, 16);
const sketchOf = (visitors: Iterable<unknown>) => {
  const sketch = new Sketch();
  for (const visitor of visitors) sketch.add(hashOf(visitor));
  return sketch;
};
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const count = (sketch: Sketch) => Math.round(sketch.estimate());

describe("the rank of a hash", () => {
  test.each([
    ["the first bit after the register", "0002000000000000", 1],
    ["the second", "fffd000000000000", 2],
    ["the last", "0000000000000002", 49],
    ["none", "0000000000000001", 50],
    ["none, again", "0000000000000000", 50],
  ])("is the place of %s", (_, hash, rank) => {
    expect(hashRank(hash)).toBe(rank);
  });

  test("is above k for one hash in 2^k", () => {
    const ranks = range(0, 20_000).map((visitor) => hashRank(hashOf(visitor)));
    for (const k of [0, 1, 2, 3, 6]) {
      const above = ranks.filter((rank) => rank > k).length / ranks.length;
      expect(above * 2 ** k).toBeGreaterThan(0.8);
      expect(above * 2 ** k).toBeLessThan(1.2);
    }
  });
});

describe("a sketch", () => {
  test("without visitors is empty", () => {
    expect(new Sketch().estimate()).toBe(0);
    expect(new Sketch().floor()).toBe(0);
    expect(new Sketch().serialize()).toEqual({ format: "sparse", bytes: new Uint8Array() });
  });

  test("counts up to 1,536 visitors exactly, in 8 bytes each", () => {
    const sketch = sketchOf(range(0, MAX_EXACT));
    expect(count(sketch)).toBe(MAX_EXACT);
    expect(sketch.serialize()).toMatchObject({ format: "sparse", bytes: { length: 8 * MAX_EXACT } });
  });

  test("has 12 kB of registers from then on", () => {
    const sketch = sketchOf(range(0, MAX_EXACT + 1));
    expect(sketch.serialize()).toMatchObject({ format: "dense", bytes: { length: 12_288 } });
    expect(Math.abs(count(sketch) - MAX_EXACT)).toBeLessThan(0.03 * MAX_EXACT);
  });

  test("ignores what is no hash", () => {
    const sketch = new Sketch();
    for (const wrong of ["", "alice", "0123456789abcde", "0123456789ABCDEF", "0123456789abcdef0"]) sketch.add(wrong);
    expect(sketch.estimate()).toBe(0);
  });

  test("refuses bytes that are none", () => {
    expect(() => Sketch.parse({ format: "dense", bytes: new Uint8Array(10) })).toThrow(RangeError);
    expect(() => Sketch.parse({ format: "sparse", bytes: new Uint8Array(10) })).toThrow(RangeError);
  });

  test("has the lowest rank of all registers as its floor", () => {
    const sketch = sketchOf(range(0, 250_000));
    const floor = sketch.floor();
    expect(floor).toBeGreaterThan(0);
    const before = sketch.serialize();
    for (const hash of range(250_000, 260_000).map(hashOf)) if (hashRank(hash) <= floor) sketch.add(hash);
    expect(sketch.serialize()).toEqual(before);
  });

  /** Visitors on either side of the limit, some of them in both sets. */
  const visitors = fc.tuple(fc.nat(30), fc.nat(30)).map(([from, size]) => range(100 * from, 100 * (from + size)));

  test("is the same in any order, with repetitions, and after storing", () => {
    fc.assert(
      fc.property(visitors, visitors, (some, others) => {
        const once = sketchOf(new Set([...some, ...others])).serialize();
        expect(sketchOf([...others, ...some.toReversed(), ...others]).serialize()).toEqual(once);
        expect(Sketch.parse(once).serialize()).toEqual(once);
      }),
      runs(30),
    );
  });

  test("of a union is that of all visitors together", () => {
    fc.assert(
      fc.property(visitors, visitors, (some, others) => {
        const union = sketchOf(some);
        union.merge(sketchOf(others));
        expect(union.serialize()).toEqual(sketchOf([...some, ...others]).serialize());
      }),
      runs(30),
    );
  });

  test("never counts fewer after another visitor, but where registers begin", () => {
    const sketch = new Sketch();
    let before = 0;
    for (const visitor of range(0, 20_000)) {
      sketch.add(hashOf(visitor));
      if (visitor === MAX_EXACT) before = 0;
      const now = visitor % 50 === 0 || visitor === MAX_EXACT ? sketch.estimate() : before;
      expect(now).toBeGreaterThanOrEqual(before);
      before = now;
    }
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Random, randomFor } from "../testing/random.ts";
import { runs } from "../testing/runs.ts";
import { ItemSummary, MAX_ITEM_BYTES, MAX_ITEMS } from "./topItems.ts";

type Counts = Map<string, number>;

/** A summary, and the truth. */
class Counted {
  summary = new ItemSummary();
  readonly truth: Counts = new Map();

  add(item: string, count = 1): this {
    this.summary.add(item, count);
    this.truth.set(item, (this.truth.get(item) ?? 0) + count);
    return this;
  }

  merge(other: Counted): void {
    this.summary.merge(other.summary);
    for (const [item, count] of other.truth) this.truth.set(item, (this.truth.get(item) ?? 0) + count);
  }

  store(): void {
    this.summary = ItemSummary.parse(this.summary.serialize());
  }

  expectWithinBounds(): void {
    const { summary, truth } = this;
    const kept = new Map(summary.top(MAX_ITEMS).map((one) => [one.item, one]));
    const total = [...truth.values()].reduce((sum, count) => sum + count, 0);
    expect(summary.total).toBe(total);
    expect(summary.error).toBeLessThanOrEqual(total / (MAX_ITEMS + 1));
    expect(kept.size).toBeLessThanOrEqual(MAX_ITEMS);
    for (const [item, count] of truth) {
      const known = kept.get(item) ?? { count: 0, error: summary.error };
      expect(count, item).toBeGreaterThanOrEqual(known.count);
      expect(count, item).toBeLessThanOrEqual(known.count + known.error);
      expect(known.error).toBeLessThanOrEqual(summary.error);
    }
    for (const item of kept.keys()) expect(truth.has(item), item).toBe(true);
  }
}

/** Some items of a skewed distribution: half of them are among the first hundred or so of 20,000. */
function someItems(random: Random): string[] {
  return Array.from({ length: 3_000 }, () => `item ${Math.floor(20_000 ** random.next())}`);
}

describe("a summary", () => {
  test("counts up to 2,048 items exactly", () => {
    const counted = new Counted();
    for (let n = 0; n < 3 * MAX_ITEMS; n++) counted.add(`item ${n % MAX_ITEMS}`, n + 1);
    expect(counted.summary.error).toBe(0);
    expect(new Map(counted.summary.top(MAX_ITEMS).map(({ item, count }) => [item, count]))).toEqual(counted.truth);
  });

  test("keeps each count within its bound, and the error below total / 2,049, however parts are added and merged", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.array(fc.nat(99), { minLength: 5, maxLength: 25 }), (seed, steps) => {
        const random = randomFor(seed, "items");
        const parts = [new Counted(), new Counted(), new Counted()];
        for (const step of steps) {
          const [part, other] = [parts[step % 3] as Counted, parts[(step + 1) % 3] as Counted];
          if (step < 60) for (const item of someItems(random)) part.add(item, random.integer(1, 3));
          else if (step < 80) part.store();
          else {
            part.merge(other);
            parts[(step + 1) % 3] = new Counted();
          }
        }
        for (const part of parts) part.expectWithinBounds();
      }),
      runs(15),
    );
  });

  test("is the same however its parts are ordered, as long as it is exact", () => {
    const parts = [
      [["b", 2] as const, ["a", 2] as const],
      [["c", 1] as const, ["a", 1] as const],
      [["b", 1] as const],
    ].map((counts) => {
      const part = new ItemSummary();
      for (const [item, count] of counts) part.add(item, count);
      return part;
    });
    const merged = [parts, parts.toReversed()].map((ordered) => {
      const summary = new ItemSummary();
      for (const part of ordered) summary.merge(part);
      return summary;
    });
    expect(merged[0]?.serialize()).toEqual(merged[1]?.serialize());
    expect(merged[0]?.top(2)).toEqual([
      { item: "a", count: 3, error: 0 },
      { item: "b", count: 3, error: 0 },
    ]);
  });

  test("loses no item of more than total / 2,049, even if all others come once", () => {
    const counted = new Counted();
    for (let n = 0; n < 50_000; n++) {
      counted.add(`once ${n}`);
      if (n % 500 === 499) counted.add("frequent").add("seldom", n > 40_000 ? 2 : 1);
    }
    counted.expectWithinBounds();
    expect(counted.summary.top(2).map(({ item }) => item)).toEqual(["seldom", "frequent"]);
  });
});

describe("the stored form", () => {
  test("has any text, and any whole number", () => {
    const items = ["a", "é", "\u0000", "\ufeffmark", "日本", "🎉", "__proto__", '"\\', "x".repeat(MAX_ITEM_BYTES)];
    const summary = new ItemSummary();
    for (const [index, item] of items.entries()) summary.add(item, 2 ** (6 * index));
    const parsed = ItemSummary.parse(summary.serialize());
    expect(parsed.top(100)).toEqual(summary.top(100));
    expect(parsed.total).toBe(summary.total);
    const largest = new ItemSummary();
    largest.add("all", Number.MAX_SAFE_INTEGER);
    expect(ItemSummary.parse(largest.serialize()).top(1)[0]?.count).toBe(Number.MAX_SAFE_INTEGER);
  });

  test("has at most 300 kB, also with the longest items and the greatest numbers", () => {
    const summary = new ItemSummary();
    for (let n = 0; n < 4 * MAX_ITEMS; n++) summary.add(String(n).padStart(MAX_ITEM_BYTES, "0"), 2 ** 40 + n);
    const { length } = summary.serialize();
    expect(length).toBeGreaterThan(MAX_ITEMS * MAX_ITEM_BYTES);
    expect(length).toBeLessThan(300_000);
  });

  test("of an empty summary is an empty summary", () => {
    const parsed = ItemSummary.parse(new ItemSummary().serialize());
    expect([parsed.top(10), parsed.total, parsed.error]).toEqual([[], 0, 0]);
  });

  test("that was cut off or has another version is refused", () => {
    const summary = new ItemSummary();
    for (const item of ["one", "two"]) summary.add(item, 300);
    const bytes = summary.serialize();
    for (let end = 0; end < bytes.length; end++) {
      // After a whole item nothing tells that another has followed.
      if (end === 4 || end === 11) continue;
      expect(() => ItemSummary.parse(bytes.subarray(0, end)), String(end)).toThrow(RangeError);
    }
    for (const wrong of [
      [2, 0, 0],
      [1, 1, 0, 1, 0xff, 1, 0],
      [1, 1, 0, 0, 1, 0],
      [1, 1, 0, 129],
    ]) {
      expect(() => ItemSummary.parse(Uint8Array.from(wrong))).toThrow();
    }
  });
});

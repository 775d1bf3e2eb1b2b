/** How many writes visitors cost, of those who have not been there before: docs/costs.md has the table. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PRICES, priceOf } from "../../costs/src/index.ts";
import { randomFor } from "../../testkit/random.ts";

const REGISTERS = 16_384;

/**
 * Visitors come one after another. Clients know the floor of the last merge, which is made after each hundredth more of them.
 *
 * @returns the writes per visitor, over the first so many visitors
 */
function writesPerVisitor(counts: readonly number[]): Map<number, number> {
  const random = randomFor(1, "cost of visitors");
  const registers = new Uint8Array(REGISTERS);
  const found = new Map<number, number>();
  let [writes, floor, nextMerge] = [0, 0, 1];
  for (let visitors = 1; visitors <= Math.max(...counts); visitors++) {
    const rank = Math.min(Math.ceil(-Math.log2(1 - random.next())) || 1, 50);
    if (rank > floor) {
      writes++;
      const register = random.integer(0, REGISTERS - 1);
      if (rank > (registers[register] as number)) registers[register] = rank;
    }
    if (visitors >= nextMerge) {
      floor = Math.min(...registers);
      nextMerge = visitors * 1.01;
    }
    if (counts.includes(visitors)) found.set(visitors, writes / visitors);
  }
  return found;
}

test("the table of docs/costs.md has the writes per visitor, and what a million visitors cost", () => {
  const rows = [
    ...readFileSync("docs/costs.md", "utf8").matchAll(/^\| ([\d,]+) visitors +\| +([\d.]+) \| +([\d.]+) \|$/gm),
  ];
  const stated = rows.map(([, visitors = "", writes, dollars]) => [
    Number(visitors.replaceAll(",", "")),
    writes,
    dollars,
  ]);
  const found = [...writesPerVisitor([1e3, 1e5, 1e6, 1e7])].map(([visitors, writes]) => {
    const dollars = 1e6 * writes * priceOf({ write: 1, invocation: 1 }, PRICES.nam5);
    return [visitors, writes.toFixed(3), dollars.toFixed(2)];
  });
  expect(stated).toEqual(found);
});

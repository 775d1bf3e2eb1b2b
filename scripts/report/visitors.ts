/** What unique visitors cost: how many of those who have not been there before are written, as a table and a chart. */
import { table } from "../../bench/markdown.ts";
import { formatDollars, formatWhole } from "../../cli/src/format.ts";
import { randomFor } from "../../core/testing/random.ts";
import { priceOf } from "../../costs/src/index.ts";

const REGISTERS = 16_384;

/** Where the curve has its points, and the table its rows. */
const CURVE = Array.from({ length: 29 }, (_, i) => Math.round(10 ** (3 + i / 7)));
const ROWS = [1e3, 1e5, 1e6, 1e7];

/** Some visitors, and the share of them that was written. */
export interface WrittenShare {
  readonly visitors: number;
  /** Of the first so many. */
  readonly overall: number;
  /** Of those since the point before. */
  readonly recent: number;
}

/**
 * Visitors come one after another. Clients know the lowest register as of the last merge, which is made with each hundredth
 * more of them, and write only those with a higher rank.
 */
export function writtenShares(): WrittenShare[] {
  const random = randomFor(1, "cost of visitors");
  const registers = new Uint8Array(REGISTERS);
  const points = new Set([...CURVE, ...ROWS]);
  const shares: WrittenShare[] = [];
  let [writes, floor, nextMerge, before, writesBefore] = [0, 0, 1, 0, 0];
  for (let visitors = 1; visitors <= Math.max(...points); visitors++) {
    const rank = Math.max(Math.ceil(-Math.log2(1 - random.next())), 1);
    if (rank > floor) {
      writes++;
      const register = random.integer(0, REGISTERS - 1);
      if (rank > (registers[register] as number)) registers[register] = rank;
    }
    if (visitors >= nextMerge) {
      floor = Math.min(...registers);
      nextMerge = visitors * 1.01;
    }
    if (!points.has(visitors)) continue;
    const recent = (writes - writesBefore) / (visitors - before);
    shares.push({ visitors, overall: writes / visitors, recent });
    [before, writesBefore] = [visitors, writes];
  }
  return shares;
}

export function visitorTable(shares: readonly WrittenShare[]): string {
  const rows = shares
    .filter(({ visitors }) => ROWS.includes(visitors))
    .map(({ visitors, overall }) => {
      const dollars = 1e6 * overall * priceOf({ write: 1, invocation: 1 });
      return [formatWhole(visitors), overall.toFixed(3), formatDollars(dollars)];
    });
  return table(["the first … visitors", "writes per visitor", "$ per million"], 0, rows);
}

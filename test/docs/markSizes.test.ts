/** How large marks make a shard in an hour, by the real plans of increments. docs/data-model.md has the table. */
import { readFileSync } from "node:fs";
import { Timestamp } from "firebase-admin/firestore";
import { expect, test } from "vitest";
import {
  INCREMENTS_PER_MARK_REMOVAL,
  MARK_LIFETIME_SECONDS,
  planIncrement,
  WRITES_PER_MARK_LOOK,
} from "../../core/src/index.ts";
import { Random } from "../../core/testing/random.ts";
import { expiredWindows } from "../../functions/src/counter/cleanMarks.ts";
import { documentBytes } from "../../testkit/production/sizes.ts";

const START = 1_800_000_000_000;
const HOUR = 3_600_000;

/**
 * A shard that gets writes for two hours, at random instants.
 *
 * @param removing  the share of the writes that may remove the expired window
 * @returns         its size in bytes in the second hour: the mean over its writes, and the most
 */
function sizes(perSecond: number, removing: number, seed: number): { mean: number; most: number } {
  const random = new Random(seed, 7, 11);
  const next = () => random.next();
  const windows = new Map<string, { at: number; nonces: Uint8Array[] }>();
  let [writes, sum, counted, most] = [0, 0, 0, 0];
  for (let now = START; now < START + 2 * HOUR; now += (-Math.log(1 - next()) * 1_000) / perSecond) {
    const { window, expired, nonce } = planIncrement("counters/views:home", "12", 1, now, next);
    const known = windows.get(expired);
    const mayGo = known && known.at + MARK_LIFETIME_SECONDS * 1_000 < now;
    if (mayGo && next() < removing) windows.delete(expired);
    windows.set(window, { at: now, nonces: [...(windows.get(window)?.nonces ?? []), nonce] });
    writes++;
    const marks = Object.fromEntries(
      [...windows].map(([name, { at, nonces }]) => [name, { at: Timestamp.fromMillis(at), nonces }]),
    );
    if (next() * WRITES_PER_MARK_LOOK < 1) for (const name of expiredWindows(marks, now)) windows.delete(name);
    if (now < START + HOUR) continue;
    const fields = { shard: "12", count: writes, writes, at: Timestamp.fromMillis(now), marks };
    const bytes = documentBytes("counters/views:home/shards/12", fields);
    [sum, counted, most] = [sum + bytes, counted + 1, Math.max(most, bytes)];
  }
  return { mean: Math.round(sum / counted), most };
}

const WAYS = { transactions: 1, "the queue": 1 / INCREMENTS_PER_MARK_REMOVAL, "looks alone": 0 };
const rows = [0.25, 1, 10].map((perSecond) => ({
  perSecond,
  ...Object.fromEntries(Object.entries(WAYS).map(([way, removing]) => [way, sizes(perSecond, removing, 3)])),
})) as ({ perSecond: number } & Record<keyof typeof WAYS, { mean: number; most: number }>)[];

test("a shard has at most 1 KiB at a write in four seconds and 2 KiB at a write a second", () => {
  const [slow, steady] = rows as [(typeof rows)[0], (typeof rows)[0]];
  expect(slow.transactions.most).toBeLessThanOrEqual(1_024);
  expect(steady.transactions.most).toBeLessThanOrEqual(2_048);
  expect(slow["the queue"].mean).toBeLessThanOrEqual(1_024);
  expect(steady["the queue"].mean).toBeLessThanOrEqual(2_048);
});

test("docs/data-model.md has these sizes, within 5 %", () => {
  const document = readFileSync("docs/data-model.md", "utf8");
  const told = [...document.matchAll(/^\| ([\d.]+) +\|((?: +[\d,]+ +\|){3})$/gm)].map(([, perSecond, cells = ""]) => [
    Number(perSecond),
    ...cells
      .split("|")
      .slice(0, 3)
      .map((cell) => Number(cell.replace(",", ""))),
  ]);
  expect(told.map(([perSecond]) => perSecond)).toEqual(rows.map(({ perSecond }) => perSecond));
  for (const [n, row] of rows.entries())
    for (const [column, way] of (Object.keys(WAYS) as (keyof typeof WAYS)[]).entries()) {
      const { mean } = row[way];
      expect(Math.abs((told[n]?.[column + 1] ?? 0) / mean - 1), `${row.perSecond}/s, ${way}: ${mean}`).toBeLessThan(
        0.05,
      );
    }
});

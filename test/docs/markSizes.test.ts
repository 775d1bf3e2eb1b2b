/** How large marks make a shard in an hour, by the real plans of increments. docs/data-model.md and costs/ have tables. */
import { readFileSync } from "node:fs";
import { Timestamp } from "firebase-admin/firestore";
import { expect, test } from "vitest";
import { INCREMENTS_PER_MARK_REMOVAL, MARK_LIFETIME_SECONDS, planIncrement } from "../../core/src/index.ts";
import { Random } from "../../core/testing/random.ts";
import { documentBytes, MARKED_SHARDS, writeUnits } from "../../costs/src/index.ts";

import { CLEANING, DEFAULT_SETTINGS, type Edition, expiredSlots, settingsOn } from "../../functions/src/decisions.ts";

const START = 1_800_000_000_000;
const HOUR = 3_600_000;

/**
 * A shard that gets writes for some hours, at random instants.
 *
 * @param removing  the share of the writes that may remove the expired slot
 * @returns         its size in bytes from the second hour on: the mean over its writes, the most, and the mean in write units
 */
function sizes(perSecond: number, removing: number, seed: number, edition: Edition = "standard", hours = 2) {
  const looks = CLEANING[edition];
  const random = new Random(seed, 7, 11);
  const next = () => random.next();
  const slots = new Map<string, { at: number; nonces: Uint8Array[] }>();
  let [writes, sum, counted, most, units] = [0, 0, 0, 0, 0];
  for (let now = START; now < START + hours * HOUR; now += (-Math.log(1 - next()) * 1_000) / perSecond) {
    const { slot, expired, nonce } = planIncrement("counters/views:home", "12", 1, now, next);
    const known = slots.get(expired);
    const mayGo = known && known.at + MARK_LIFETIME_SECONDS * 1_000 < now;
    if (mayGo && next() < removing) slots.delete(expired);
    slots.set(slot, { at: now, nonces: [...(slots.get(slot)?.nonces ?? []), nonce] });
    writes++;
    const marks = Object.fromEntries(
      [...slots].map(([name, { at, nonces }]) => [name, { at: Timestamp.fromMillis(at), nonces }]),
    );
    if (next() * looks.writesPerShardCleaned < 1)
      for (const name of expiredSlots(marks, now, looks)) slots.delete(name);
    if (now < START + HOUR) continue;
    const fields = { shard: "12", count: writes, writes, at: Timestamp.fromMillis(now), marks };
    const bytes = documentBytes("counters/views:home/shards/12", fields);
    [sum, counted, most, units] = [sum + bytes, counted + 1, Math.max(most, bytes), units + writeUnits(bytes)];
  }
  return { mean: Math.round(sum / counted), most, units: units / counted };
}

const WAYS = { transactions: 1, "the queue": 1 / INCREMENTS_PER_MARK_REMOVAL, "looks alone": 0 };
/** On Enterprise a shard of a steady counter has so many writes per second at most: above 70 % a counter grows (autoscale.ts). */
const ENTERPRISE_RATE = 0.7 * settingsOn("enterprise", DEFAULT_SETTINGS).writesPerShard;

test("on Enterprise a write of a shard is one write unit at every rate that a steady counter has", () => {
  for (const share of [0.2, 0.5, 0.8, 1]) {
    const [blind, queued] = [1, 1 / INCREMENTS_PER_MARK_REMOVAL].map((removing) =>
      Array.from({ length: 10 }, (_, seed) => sizes(share * ENTERPRISE_RATE, removing, seed + 1, "enterprise")),
    );
    for (const { most } of blind ?? []) expect(most, `${share}`).toBeLessThanOrEqual(1_024);
    // Some writes of a client that watches, one in twenty at most, are two units.
    const units = (queued ?? []).map((one) => one.units);
    expect(units.reduce((sum, one) => sum + one, 0) / units.length, `${share}`).toBeLessThan(1.05);
  }
});

const rows = [0.25, 1, 10].map((perSecond) => ({
  perSecond,
  ...Object.fromEntries(Object.entries(WAYS).map(([way, removing]) => [way, sizes(perSecond, removing, 3)])),
})) as ({ perSecond: number } & Record<keyof typeof WAYS, ReturnType<typeof sizes>>)[];

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

test.each(MARKED_SHARDS.filter(({ perSecond }) => perSecond <= 1))(
  "costs reckon with the size and the write units of a shard at $perSecond writes/s, within 8 %",
  ({ perSecond, transactions, queue }) => {
    // About 5,000 writes: through the queue, slots that are not removed make sizes vary.
    const hours = 1 + Math.ceil(5_000 / perSecond / 3_600);
    for (const [told, way] of [
      [transactions, "transactions"],
      [queue, "the queue"],
    ] as const) {
      const { mean, units } = sizes(perSecond, WAYS[way], 3, "enterprise", hours);
      expect(Math.abs(told.bytes / mean - 1), `${way}: ${mean}`).toBeLessThan(0.08);
      expect(Math.abs(told.units / units - 1), `${way}: ${units}`).toBeLessThan(0.08);
    }
  },
);

import { expect, test } from "vitest";
import { defaults, idle } from "./config.fixture.ts";
import type { Published } from "./counter.ts";
import { type Need, needOf } from "./sweep.ts";

const margin = 50;
const { shrinkCooldown } = defaults;
const wide = { shardCount: 50, unsettled: true };
// Polled, due 5 s after it was published, and looked after for a second more.
const polled = { ...wide, rate: 100, total: 500_000 };

test.each<[what: string, need: Need, after: number, counter: Partial<Published>]>([
  ["polled, its follow-ups still to come", "attended", 5_999, polled],
  ["polled, its follow-ups overdue", "due", 6_000, polled],
  ["polled and calm, its follow-ups still to come", "attended", 5_999, { ...polled, calmSince: idle.asOf }],
  ["quiet and cooling down", "resting", shrinkCooldown - 1, { ...wide, calmSince: idle.asOf }],
  ["quiet and cooled down", "due", shrinkCooldown, { ...wide, calmSince: idle.asOf }],
  ["quiet since a moment ago, not known to be calm", "due", 1_000, wide],
  ["quiet since a moment ago, and just published", "attended", 999, wide],
  ["cooling down, its rate not known to be zero", "due", 6_000, { ...wide, rate: 0.01, calmSince: idle.asOf }],
  ["small and quiet, with surplus shards left", "due", 1_000, { unsettled: true }],
])("a counter that is %s: %s", (_what, need, after, counter) => {
  expect(needOf({ ...idle, ...counter }, idle.asOf + after, margin, defaults)).toBe(need);
});

import { expect, test } from "vitest";
import { defaults, idle } from "./config.fixture.ts";
import type { Published } from "./counter.ts";
import { isOverdue } from "./sweep.ts";

// Polled, due 5 s after it was published, and looked after for a second more.
const polled = { shardCount: 50, unsettled: true, rate: 100, total: 500_000 };

test.each<[what: string, overdue: boolean, after: number, counter: Partial<Published>]>([
  ["polled, its follow-ups still to come", false, 5_999, polled],
  ["polled, its follow-ups overdue", true, 6_000, polled],
  ["polled because of its shards alone, its follow-ups still to come", false, 1_999, { silentShards: 1 }],
  ["polled because of its shards alone, its follow-ups overdue", true, 2_000, { silentShards: 1 }],
  ["not polled, and just published", false, 999, { unsettled: true }],
  ["not polled", true, 1_000, { unsettled: true }],
])("a counter that is %s: overdue %j", (_what, overdue, after, counter) => {
  expect(isOverdue({ ...idle, ...counter }, idle.asOf + after, 50, defaults)).toBe(overdue);
});

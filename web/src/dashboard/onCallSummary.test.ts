import { expect, test } from "vitest";
import type { Published } from "../counter/published.ts";
import { summaryOf } from "./onCallSummary.ts";
import type { OnCallReading } from "./readOnCall.ts";

const NOW = 1_000_000;
const counter = (id: string, fields: Partial<Published> = {}) =>
  ({ id, publishedAt: NOW - 60_000, malformedShards: [], isCollection: false, ...fields }) as Published;
const READING: OnCallReading = {
  ...{ at: NOW - 20_000, others: [], writes: new Map(), polled: 0, reconciled: 0, overdue: [], drifts: [], reads: 3 },
};

test("a write that was read is late until the shown counter is published", () => {
  const reading = { ...READING, writes: new Map([["a", [NOW - 40_000]]]) };
  const lateOf = (publishedAt: number) => summaryOf(reading, [counter("a", { publishedAt })], NOW).late.get("a");
  expect(lateOf(NOW - 60_000)).toMatchObject({ kind: "unpublished", since: NOW - 40_000 });
  expect(lateOf(NOW - 1_000)).toBeUndefined();
});

test("a counter that is not shown is late as of the reading, and not because the reading is old", () => {
  const lateOf = (nextPollAt: number) =>
    summaryOf({ ...READING, others: [counter("b", { nextPollAt })] }, [], NOW).late.get("b");
  expect(lateOf(NOW - 30_000)).toBeUndefined();
  expect(lateOf(NOW - 40_000)).toMatchObject({ kind: "overdue", since: NOW - 40_000, at: NOW - 20_000 });
});

test("without a reading, the shown counters tell what their documents do", () => {
  const shown = [counter("a", { nextPollAt: NOW - 30_000, malformedShards: ["3"] }), counter("b")];
  const { late, alarms } = summaryOf(undefined, shown, NOW);
  expect([...late.keys()]).toEqual(["a"]);
  expect(alarms).toEqual([{ id: "a", text: "a shard is left out of the total" }]);
});

test("shown counters that may be old are not called late", () => {
  expect(summaryOf(undefined, [counter("a", { nextPollAt: NOW - 30_000 })], undefined).late.size).toBe(0);
});

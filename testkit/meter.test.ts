import { expect, test } from "vitest";
import type { Message } from "./firestoreMessages.ts";
import { meter } from "./meter.ts";

const message = (content: object) => ({ as: () => content }) as unknown as Message;

/** What the meter charges for an aggregation query, given its results by alias. */
function charged(results: Record<string, number>): number {
  const { reading, inspection } = meter();
  const inspector = inspection("RunAggregationQuery");
  const aggregations = Object.keys(results).map((alias) => ({
    alias,
    [alias.startsWith("count") ? "count" : "sum"]: {},
  }));
  inspector?.request?.(message({ structuredAggregationQuery: { aggregations } }));
  // In a transaction, its id comes by itself.
  inspector?.response?.(message({ result: null }));
  const fields = Object.entries(results).map(([alias, integerValue]) => [alias, { integerValue }]);
  inspector?.response?.(message({ result: { aggregateFields: Object.fromEntries(fields) } }));
  return reading.usage.reads;
}

test("an aggregation query costs a read per 1,000 entries it counted, at least one, regardless of its sums", () => {
  expect(charged({ count: 0 })).toBe(1);
  expect(charged({ count: 1_000 })).toBe(1);
  expect(charged({ count: 1_001 })).toBe(2);
  expect(charged({ sumOfCounts: 5_000_000, count: 10_000, sumOfWrites: 7_000_000 })).toBe(10);
  expect(charged({ sumOfCounts: 5_000_000 })).toBe(1);
  expect(charged({ sumOfCounts: -3, count: 2_500 })).toBe(3);
});

import { expect, test } from "vitest";
import { healthyFacts, NOW, sampled, sampleOf } from "../../testing/healthyFacts.ts";
import { checkCounters } from "./counterChecks.ts";
import type { SampledCounter } from "./counterFacts.ts";

const MINUTE = 60_000;
const found = (...counters: SampledCounter[]) => checkCounters(healthyFacts(sampleOf(counters)));
const ids = (changes: Partial<SampledCounter>) => found(sampled(changes)).map(({ id }) => id);
const published = (changes: object = {}) => ({
  published: {
    total: 3,
    asOf: NOW - 90_000,
    nextPollAt: null,
    countedCollection: null,
    malformedShards: [],
    ...changes,
  },
});
const shard = (id: string, count: unknown, age: number, fields: object = {}) => ({
  id,
  fields: { shard: id, count, writes: 1, ...fields },
  updatedAt: NOW - age,
});

test.each<[string, string[], Partial<SampledCounter>]>([
  ["a published counter", [], {}],
  ["a write a moment ago", [], { sum: 4, shards: [shard("0", 4, 5_000)] }],
  ["a write that nothing publishes", ["counter-stuck"], { sum: 4, shards: [shard("0", 4, 70_000)] }],
  [
    "a write that a poll will publish",
    [],
    { ...published({ nextPollAt: NOW + MINUTE }), sum: 4, shards: [shard("0", 4, 70_000)] },
  ],
  ["a poll that is late, but may be swept", [], published({ nextPollAt: NOW - 3 * MINUTE })],
  ["a poll that no sweep repeats", ["poll-lost"], published({ nextPollAt: NOW - 8 * MINUTE })],
  [
    "a lost poll with a write",
    ["poll-lost"],
    { ...published({ nextPollAt: NOW - 8 * MINUTE }), sum: 4, shards: [shard("0", 4, 70_000)] },
  ],
  ["a new counter", [], { published: null, shards: [shard("0", 3, 5_000)] }],
  ["one that was never published", ["counter-unpublished"], { published: null, shards: [shard("0", 3, 70_000)] }],
  [
    "one with many shards that was never published",
    ["counter-unpublished"],
    { published: null, documents: 99, indexed: 99, shards: null },
  ],
  ["one that a server has prepared", [], { published: null, sum: 0, documents: 0, indexed: 0, shards: [] }],
  ["a shard that was deleted", ["counter-changed"], { sum: 2, shards: [shard("0", 2, 95_000)] }],
  ["a total in the future", ["counter-damaged"], published({ asOf: NOW + 10 * MINUTE })],
  ["a total that is a text", ["counter-damaged"], published({ total: "3" })],
  [
    "a count that is a text",
    ["shards-malformed"],
    { documents: 2, indexed: 2, shards: [shard("0", 3, 95_000), shard("1", "3", 95_000)] },
  ],
  [
    "one that only the functions have listed",
    ["shards-malformed"],
    { ...published({ malformedShards: ["7"] }), shards: null },
  ],
  ["a shard outside the index", ["shards-unindexed"], { documents: 2 }],
  ["one that was made by hand", ["counter-hand-made"], { published: null, numShards: 10, indexed: 0, documents: 10 }],
  ["one of which some shards were adopted", ["counter-hand-made"], { numShards: 10, documents: 2 }],
  ["one that was adopted", [], { numShards: 10 }],
  ["the shard of another id", ["shards-refused"], { shards: [shard("0", 3, 95_000, { shard: "1" })] }],
  ["writes that are no integer", ["shards-refused"], { shards: [shard("0", 3, 95_000, { writes: 0.5 })] }],
  ["a field of another's", ["shards-refused"], { shards: [shard("0", 3, 95_000, { user: "ada" })] }],
  ["the same in base, which no client writes", [], { shards: [shard("base", 3, 95_000, { user: "ada" })] }],
  [
    "fractions that add up to nearly the same",
    [],
    { ...published({ total: 0.3 }), sum: 0.1 + 0.2, shards: [shard("base", 0.1 + 0.2, 95_000)] },
  ],
  [
    "a source beside a counted collection",
    ["source-counted"],
    { ...published({ countedCollection: "posts" }), sum: null, hasSource: true },
  ],
  ["a source that agrees", [], { hasSource: true, drift: { drift: 0, alarmBeyond: 0 } }],
  ["a source that cannot be read", ["source-invalid"], { hasSource: true, drift: { error: "no index" } }],
])("%s: %j", (_, wanted, changes) => {
  expect(ids(changes)).toEqual(wanted);
});

test("drift within the alarm is a warning, beyond it an error", () => {
  const severity = (drift: number) =>
    found(sampled({ hasSource: true, drift: { drift, alarmBeyond: 2 } }))[0]?.severity;
  expect([severity(2), severity(-2), severity(3), severity(-3)]).toEqual(["warning", "warning", "error", "error"]);
});

test("a finding names some of its counters, and how many more there are", () => {
  const lost = ["a", "b", "c", "d", "e"].map((id) => sampled({ id, ...published({ nextPollAt: NOW - 8 * MINUTE }) }));
  expect(found(...lost)).toHaveLength(1);
  expect(found(...lost)[0]?.problem).toMatch(/^a, b, c and 2 more should have been measured 8 minutes ago/);
});

test("a reconcile that is long past is told with its age", () => {
  const overdue = [{ id: "posts:all", dueAt: NOW - 3 * 3_600_000 }];
  const [finding] = checkCounters(healthyFacts(sampleOf([], { overdue })));
  expect(finding).toMatchObject({ id: "reconcile-overdue", problem: expect.stringContaining("3 hours ago") });
});

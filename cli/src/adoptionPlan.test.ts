import { describe, expect, test } from "vitest";
import { planAdoption, type StoredCounter, whyNotEnded, writesOf } from "./adoptionPlan.ts";

type Fields = Readonly<Record<string, unknown>>;

const stored = (fields: Fields, shards: Readonly<Record<string, Fields>>): StoredCounter => ({
  fields,
  shards: new Map(Object.entries(shards)),
});

/** A counter of the recipe: `n` shards with these counts. */
const handMade = (...counts: number[]) =>
  stored({ num_shards: counts.length }, Object.fromEntries(counts.map((count, n) => [`${n}`, { count }])));

const complete = (id: string, count: number) => [id, { shard: id, count, writes: 0 }] as const;

test("a counter of the recipe gets the fields of the index, and is published", () => {
  const plan = planAdoption(handMade(1, 2, 3));
  expect(plan).toEqual({
    ...{ numShards: 3, setsNumShards: false, completed: ["0", "1", "2"], created: [], publishes: true, total: 6 },
  });
  expect(writesOf(plan as never)).toBe(4);
});

test("a number of shards that is in the code alone is stored, and missing shards are created", () => {
  const plan = planAdoption(stored({}, { 1: { count: 5 }, 3: { count: 1 } }));
  expect(plan).toMatchObject({ numShards: 4, setsNumShards: true, created: ["0", "2"], completed: ["1", "3"] });
  expect(writesOf(plan as never)).toBe(6);
  expect(planAdoption(stored({ num_shards: 2 }, {}))).toMatchObject({ created: ["0", "1"], total: 0 });
});

test("one that was adopted needs nothing, whatever shards Tally has added", () => {
  const shards = Object.fromEntries([complete("0", 1), complete("1", 2), complete("7", 4), complete("base", 10)]);
  const published = { num_shards: 2, asOf: "any", total: 17, nextPollAt: null };
  const plan = planAdoption(stored(published, shards));
  expect(plan).toMatchObject({ setsNumShards: false, completed: [], created: [], publishes: false });
  expect(writesOf(plan as never)).toBe(0);
});

test("an old total is published anew, unless a poll will do it", () => {
  const shards = Object.fromEntries([complete("0", 1), complete("1", 2)]);
  const planned = (nextPollAt: unknown) =>
    planAdoption(stored({ num_shards: 2, asOf: "any", total: 2, nextPollAt }, shards));
  expect(planned(null)).toMatchObject({ publishes: true });
  expect(planned("soon")).toMatchObject({ publishes: false });
});

test("a base without the fields of the index is written once", () => {
  const counter = (fields: Fields) => stored({ num_shards: 1, ...fields }, { 0: { count: 1 }, base: { count: 5 } });
  expect(planAdoption(counter({}))).toMatchObject({ completed: ["0"], publishes: true });
  expect(planAdoption(counter({ asOf: "any", total: 6 }))).toMatchObject({
    completed: ["0", "base"],
    publishes: false,
  });
});

describe("a counter is left alone", () => {
  test.each<[why: string, counter: StoredCounter, reason: string]>([
    ["without shards", stored({ title: "x" }, {}), "has neither num_shards nor shards"],
    [
      "that Tally has made",
      stored({ asOf: "any" }, Object.fromEntries([complete("0", 1), complete("150", 2)])),
      "was not made by hand",
    ],
    ["with a text for a number", stored({ num_shards: "10" }, {}), 'num_shards is "10": set it to a whole number'],
    ["with no number", stored({ num_shards: 0 }, {}), "num_shards is 0"],
    ["with too many", stored({ num_shards: 10_001 }, {}), "num_shards is 10001"],
    ["if it is bounded", stored({ num_shards: 1, bounded: true }, {}), "is bounded"],
    [
      "if it counts documents",
      stored({ num_shards: 1, countedCollection: "posts" }, {}),
      "counts the documents of posts",
    ],
    ["with a shard of another name", stored({ num_shards: 1 }, { a1: { count: 1 } }), "shards/a1 is no number"],
    ["with a count that is a text", stored({ num_shards: 1 }, { 0: { count: "1" } }), "the count of shards/0"],
    ["with a count that is NaN", stored({ num_shards: 1 }, { 0: { count: Number.NaN } }), "the count of shards/0"],
    ["with fields of the app", stored({ num_shards: 1 }, { 0: { count: 1, by: "x" } }), "shards/0 has the field by"],
    ["with another shard", stored({ num_shards: 1 }, { 0: { count: 1, shard: 0 } }), "for something else"],
    ["with other writes", stored({ num_shards: 1 }, { 0: { count: 1, writes: "1" } }), "for something else"],
  ])("%s, also when adoptions end", (_, counter, reason) => {
    expect(planAdoption(counter)).toEqual({ leftAlone: expect.stringContaining(reason) });
    const published = { ...counter, fields: { ...counter.fields, asOf: "any" } };
    expect(whyNotEnded(published)).toContain(reason);
  });
});

test("the adoption of a counter ends if adopt has done all, however stale its total is", () => {
  const shards = Object.fromEntries([complete("0", 1), complete("1", 2), complete("base", 10)]);
  const published = { num_shards: 2, asOf: "any", total: 5, nextPollAt: null };
  expect(whyNotEnded(stored(published, shards))).toBeUndefined();
  for (const [counter, reason] of [
    [stored({ num_shards: 2 }, shards), "was never published: adopt it first"],
    [stored({ ...published, num_shards: 3 }, shards), "shards/2 is missing or incomplete; adopt it first"],
    [stored(published, { ...shards, 1: { count: 2 } }), "shards/1 is missing or incomplete; adopt it first"],
  ] as const)
    expect(whyNotEnded(counter)).toContain(reason);
});

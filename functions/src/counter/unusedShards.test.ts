import { describe, expect, test } from "vitest";
import { idle } from "../../testing/arbitraries.ts";
import { measured, shard, situations, T } from "../../testing/situations.ts";
import { DEFAULT_CONFIG as defaults } from "../deploy/defaultConfig.ts";
import type { Cause } from "./cause.ts";
import type { Measurement } from "./measurement.ts";
import { shardSettingsOf } from "./shardSettings.ts";
import type { KnownState, Published } from "./types.ts";
import { firstUnused, timeToFold, unusedSinceAfter } from "./unusedShards.ts";

const settings = shardSettingsOf({}, defaults);

describe("unused are", () => {
  const first = (over: Partial<Published>, feature: Partial<typeof settings> = {}) =>
    firstUnused({ ...idle, shardCount: 5, ...over }, { ...settings, ...feature });

  test("the shards beyond the shard count, and beyond those that a feature keeps", () => {
    expect([first({}), first({}, { keptShards: 3 }), first({}, { keptShards: 10 })]).toEqual([5, 5, 10]);
  });

  test("all silent shards of a cooling counter, unless clients need them", () => {
    const cooling = { phase: "cooling" } as const;
    expect(first(cooling)).toBe(1);
    expect(first(cooling, { keptShards: 10 })).toBe(10);
    expect(first(cooling, { foldsOnlyEmpty: true })).toBe(5);
  });
});

describe("shards may be unused", () => {
  const at = T + 7_000;
  const busy: Published = { ...(situations.busy as Published), shardCount: 20, shardDocuments: 15 };
  const since = (
    found: Partial<Measurement>,
    known: Partial<KnownState> = {},
    next: Partial<Published> = {},
    cause: Cause = { at, isPoll: false },
  ) => {
    const { previous = busy } = known;
    const measurement = measured(previous, at, found);
    const after = { ...(previous as Published), asOf: at, shardDocuments: measurement.documents, ...next };
    return unusedSinceAfter(cause, { previous, ...known, measurement, settings }, after, defaults);
  };
  const before = { ...busy, unusedSince: T - 5_000 };
  const listed = (...ids: string[]) => ({ documents: ids.length, shards: ids.map((id) => shard(id)) });

  test("from the publish on that finds more of them, fewer in use, or more than are in use", () => {
    expect(since({})).toBeNull();
    expect(since({ documents: 16 })).toBe(at);
    expect(since({}, {}, { shardCount: 19 })).toBe(at);
    // A fold of more than a page costs more than such shards do.
    const large = { previous: { ...busy, shardCount: 300 } };
    expect([200, 201, 301].map((documents) => since({ documents }, large))).toEqual([at, null, null]);
    expect(since({ documents: 22 }, { previous: { ...busy, shardDocuments: 22 } })).toBe(at);
    expect(since(listed("0", "1", "2"))).toBeNull();
    expect(since(listed("0", "1", "20"))).toBe(at);
  });

  test("until they are listed, or a fold has read them; further ones do not put the fold off", () => {
    expect(since({ documents: 19 }, { previous: before })).toBe(T - 5_000);
    expect(since({}, { previous: before, folded: { lastWritten: undefined } })).toBeNull();
    expect(since(listed("0", "1", "base"), { previous: before })).toBeNull();
  });

  test("from the last write on to those that a fold has left", () => {
    const folded = { lastWritten: T - 1_000 };
    expect(since({}, { previous: before, folded })).toBe(T - 1_000);
    expect(since(listed("0", "1", "base"), { previous: before, folded })).toBeNull();
    // None of these can be folded: they are malformed, or no client's.
    expect(since({ documents: 22 }, { previous: before, folded: { lastWritten: undefined } })).toBe(at);
  });

  test("from a publish on that comes before that of their fold, if they are many: the next poll does not read them again", () => {
    const due = { ...before, unusedSince: (before.nextPollAt as number) - defaults.shrinkCooldown };
    const beforeFold = (documents: number, over: Partial<Published> = {}, cause?: Cause) =>
      since({ documents }, { previous: { ...due, shardDocuments: documents, ...over } }, {}, cause);
    expect([beforeFold(200), beforeFold(201)]).toEqual([due.unusedSince, at]);
    // The poll itself folds them; another does not, nor does any before they are due.
    expect(beforeFold(201, {}, { at: due.nextPollAt as number, isPoll: true })).toBe(due.unusedSince);
    expect(beforeFold(201, {}, { at, isPoll: true })).toBe(at);
    expect(beforeFold(201, { unusedSince: due.unusedSince + 1 })).toBe(due.unusedSince + 1);
    expect(beforeFold(201, { nextPollAt: at })).toBe(due.unusedSince);
  });

  test("since the last write, if there was none for a while", () => {
    const quiet = { phase: "shrunk", shardCount: 1, calmSince: T - 60_000 } as const;
    expect(since({}, {}, quiet)).toBe(T - 60_000);
    expect(since({}, { previous: before }, quiet)).toBe(T - 5_000);
  });

  test("never while base is malformed or documents are counted: nothing is folded then", () => {
    expect(since({ documents: 22, malformed: ["base"] }, { previous: before })).toBeNull();
    expect(since({ documents: 0, collectionCount: { path: "posts", reads: 1 } }, { previous: before })).toBeNull();
  });
});

test("a cooling counter with many shards is folded when all silent ones can go; every other, when the first can", () => {
  const shrunk: Published = { ...(situations.shrunk as Published), unusedSince: T - 400_000, calmSince: T - 200_000 };
  const foldIn = (over: Partial<Published>) => timeToFold({ ...shrunk, ...over }, defaults) / 1_000;
  const many = { shardDocuments: 201 };
  expect([foldIn({}), foldIn(many), foldIn({ phase: "cooling" })]).toEqual([200, 200, 200]);
  expect(foldIn({ phase: "cooling", ...many })).toBe(400);
  expect(foldIn({ phase: "cooling", ...many, unusedSince: T - 100_000 })).toBe(500);
  expect(foldIn({ unusedSince: null })).toBe(Number.POSITIVE_INFINITY);
});

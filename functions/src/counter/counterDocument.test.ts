import fc from "fast-check";
import { type DocumentSnapshot, Timestamp } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { anyCorePublished as anyCounter, coreIdle as idle } from "../../testing/arbitraries.ts";
import { MAX_TASK_DELAY } from "./cause.ts";
import { parseCounter, serializeCounter } from "./counterDocument.ts";
import { toTimestamp } from "./fields.ts";
import { toMillis } from "./time.ts";
import type { Published } from "./types.ts";

const snapshot = (document: object) =>
  ({ get: (field: string) => (document as Record<string, unknown>)[field] }) as unknown as DocumentSnapshot;
const parse = (document: object) => parseCounter(snapshot(document), []).published;
const polled: Published = { ...idle, phase: "cooling", nextPollAt: idle.asOf + 600_000, shardDocuments: 3 };
/** As a publish stores it. */
const store = (published: Published): Record<string, unknown> =>
  serializeCounter("likes:post42", published, toTimestamp(published.asOf));

describe("a counter document", () => {
  test("is parsed to what was published", () => {
    fc.assert(
      fc.property(
        anyCounter,
        fc.option(fc.record({ path: fc.string(), reads: fc.nat() })),
        (counter, collectionCount) => {
          const published = { ...counter, collectionCount };
          expect(parse(store(published))).toEqual(published);
        },
      ),
    );
  });

  test("has the instant it is exact for to the last digit, and its group", () => {
    const asOf = new Timestamp(1_700_000_000, 123_456_000);
    expect(serializeCounter("likes:post42", idle, asOf)).toMatchObject({ asOf, group: "likes" });
    expect(serializeCounter("home", idle, asOf)).toMatchObject({ asOf, group: "" });
  });

  test("has every field, and none is undefined", () => {
    fc.assert(
      fc.property(anyCounter, (counter) => Object.values(store(counter)).every((value) => value !== undefined)),
    );
    expect(store(idle)).toMatchObject({ countedCollection: null, growing: false });
  });

  test.each<[countedCollection: unknown, countReads: unknown, parsed: unknown]>([
    ["posts", 42, { path: "posts", reads: 42 }],
    ["posts", undefined, { path: "posts", reads: 0 }],
    ["posts", -1, { path: "posts", reads: 0 }],
    ["posts", Number.NaN, { path: "posts", reads: 0 }],
    [null, 0, null],
    [7, 42, null],
    [undefined, undefined, null],
  ])(
    "whose countedCollection is %j and countReads %j has counted %j",
    (countedCollection, countReads, collectionCount) => {
      expect(parse({ ...store(idle), countedCollection, countReads })?.collectionCount).toEqual(collectionCount);
    },
  );

  test.each([
    [5, 5],
    [Number.NaN, 0],
    ["5", 0],
    [undefined, undefined],
  ])("is adjusted by numbers alone: %s", (adjusted, parsed) => {
    expect(parseCounter(snapshot({ ...store(idle), adjusted }), []).adjusted).toBe(parsed);
  });

  test.each<[why: string, asOf: unknown]>([
    ["is missing or was made ahead by hand", undefined],
    ["says null", null],
    ["says a number", 1_700_000_000_000],
    ["says a date", new Date(1_700_000_000_000)],
    ["says a text", "2023-11-14T22:13:20Z"],
  ])("was never published if its asOf %s", (_why, asOf) => {
    expect(parse({ ...store(idle), asOf })).toBeUndefined();
  });

  test.each<[field: keyof Published, wrong: unknown[], instead: unknown]>([
    ["total", [undefined, null, "42", Number.NaN, {}], 0],
    ["shardCount", [undefined, null, "7", Number.NaN, 0, -3], 1],
    ["writes", [undefined, null, "7", Number.NaN, -1], 0],
    ["rate", [undefined, null, "7", Number.NaN, -0.1], 0],
    ["publishes", [undefined, null, "7", Number.NaN, -1], 0],
    ["shardDocuments", [undefined, null, "7", Number.NaN, -1], 0],
    ["calmSince", [undefined, "now", 1_700_000_000_000, {}], null],
    ["unusedSince", [undefined, "now", 1_700_000_000_000, {}], null],
    ["malformedShards", [undefined, null, "3", { 0: "3" }], []],
  ])("with a damaged %s gets a default instead", (field, wrong, instead) => {
    for (const value of wrong)
      expect(parse({ ...store(polled), [field]: value })).toEqual({ ...polled, [field]: instead });
  });

  test("whose phase or poll is damaged is not polled: the next write is measured", () => {
    const { nextPollAt, asOf } = store(polled);
    const unpolled = { ...polled, phase: "idle", nextPollAt: null };
    for (const phase of [undefined, null, "", "hot", "idle", 3]) {
      expect(parse({ ...store(polled), phase })).toEqual(unpolled);
    }
    const impossible = [
      asOf,
      toTimestamp(idle.asOf - 1),
      toTimestamp(idle.asOf + MAX_TASK_DELAY + 10),
      toTimestamp(4e12),
    ];
    for (const wrong of [undefined, null, "now", 1_700_000_000_000, ...impossible]) {
      expect(parse({ ...store(polled), nextPollAt: wrong })).toEqual(unpolled);
    }
    expect(parse({ ...store(polled), nextPollAt })).toEqual(polled);
  });

  test("has no infinite numbers, which would leave rates and intervals undefined", () => {
    for (const field of ["total", "shardCount", "writes", "rate"] as const) {
      expect(parse({ ...store(idle), [field]: Number.POSITIVE_INFINITY })?.[field]).toSatisfy(Number.isFinite);
    }
  });
});

describe("a reservation", () => {
  const until = toTimestamp(idle.asOf + 1_000);
  const reservation = (value: unknown, document: object = store(idle)) =>
    parseCounter(snapshot({ ...document, reservation: value }), []).reservation;

  test("is parsed, also for a counter that was never published", () => {
    expect(reservation({ shards: 40, until })).toEqual({ shards: 40, until: idle.asOf + 1_000 });
    expect(reservation({ shards: 40, until }, {})).toEqual({ shards: 40, until: idle.asOf + 1_000 });
  });

  test.each([
    undefined,
    null,
    40,
    "40",
    {},
    { shards: 40 },
    { until },
    { shards: "40", until },
    { shards: Number.NaN, until },
  ])("is none if it says %j", (value) => {
    expect(reservation(value)).toBeUndefined();
  });
});

describe("instants", () => {
  /** Microseconds since the epoch, until the year 2100. */
  const micros = fc.bigInt({ min: 0n, max: 4_102_444_800_000_000n });
  const timestampOf = (us: bigint) => new Timestamp(Number(us / 1_000_000n), Number(us % 1_000_000n) * 1_000);

  test("are milliseconds and back to the microsecond, which is as fine as Firestore's clock", () => {
    fc.assert(fc.property(micros, (us) => toTimestamp(toMillis(timestampOf(us))).isEqual(timestampOf(us))));
  });

  test("keep their order as milliseconds", () => {
    const neighbours = fc.tuple(micros, fc.bigInt({ min: 1n, max: 2_000_000n }));
    fc.assert(fc.property(neighbours, ([a, later]) => toMillis(timestampOf(a)) < toMillis(timestampOf(a + later))));
  });

  test("before 1970 are instants too", () => {
    expect(toTimestamp(-0.001)).toEqual(new Timestamp(-1, 999_999_000));
    expect(toMillis(toTimestamp(-1_500))).toBe(-1_500);
  });

  test("that are finer than a microsecond are rounded to the nearest, over a full second as well", () => {
    expect(toTimestamp(1_000.0004)).toEqual(new Timestamp(1, 0));
    expect(toTimestamp(1_000.0006)).toEqual(new Timestamp(1, 1_000));
    expect(toTimestamp(1_999.9996)).toEqual(new Timestamp(2, 0));
  });
});

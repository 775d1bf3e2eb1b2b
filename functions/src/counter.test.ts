import fc from "fast-check";
import { type DocumentSnapshot, Timestamp } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { idle } from "./config.fixture.ts";
import { parseCounter, toMillis, toTimestamp } from "./counter.ts";

const parse = (document: Record<string, unknown>) =>
  parseCounter({ get: (field: string) => document[field] } as unknown as DocumentSnapshot);
const stored = { ...idle, asOf: toTimestamp(idle.asOf), group: "" };

describe("a counter document", () => {
  test("is read as it was published", () => {
    const calmSince = idle.asOf - 0.5;
    const hot = { total: -2.5, shardCount: 7, rate: 3.25, unsettled: true, malformed: ["3"] };
    expect(parse(stored)).toEqual(idle);
    expect(parse({ ...stored, ...hot, calmSince: toTimestamp(calmSince) })).toEqual({ ...idle, ...hot, calmSince });
  });

  test.each<[why: string, asOf: unknown]>([
    ["is missing or was made ahead by hand", undefined],
    ["says null", null],
    ["says a number", 1_700_000_000_000],
    ["says a date", new Date(1_700_000_000_000)],
    ["says a text", "2023-11-14T22:13:20Z"],
  ])("was never published if its asOf %s", (_why, asOf) => {
    expect(parse({ ...stored, asOf })).toBeUndefined();
  });

  test.each<[field: string, wrong: unknown[], instead: unknown]>([
    ["total", [undefined, null, "42", Number.NaN, {}], 0],
    ["shardCount", [undefined, null, "7", Number.NaN, 0, -3], 1],
    ["writes", [undefined, null, "7", Number.NaN, -1], 0],
    ["rate", [undefined, null, "7", Number.NaN, -0.1], 0],
    ["calmSince", [undefined, "now", 1_700_000_000_000, {}], null],
    ["unsettled", [undefined, null, "true", 1], false],
    ["malformed", [undefined, null, "3", { 0: "3" }], []],
  ])("with a damaged %s is taken for an ordinary one", (field, wrong, instead) => {
    for (const value of wrong) expect(parse({ ...stored, [field]: value })).toEqual({ ...idle, [field]: instead });
  });

  test("has no infinite numbers, which would leave rates and intervals undefined", () => {
    for (const field of ["total", "shardCount", "writes", "rate"] as const) {
      expect(parse({ ...stored, [field]: Number.POSITIVE_INFINITY })?.[field]).toSatisfy(Number.isFinite);
    }
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

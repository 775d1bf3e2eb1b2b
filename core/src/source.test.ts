import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CounterError } from "./errors.ts";
import { type CounterSource, type CounterSourceOperator, parseSource, validSchedule, validSource } from "./source.ts";

function refusal(check: () => unknown): string {
  try {
    check();
  } catch (error) {
    expect(error).toBeInstanceOf(CounterError);
    expect((error as CounterError).code).toBe("counter/invalid-source");
    return (error as CounterError).message.replace("counter/invalid-source: ", "");
  }
  throw new Error("the source was accepted");
}

const filter = { field: "state", op: "==", value: "public" } as const;

describe("a valid source is returned unchanged", () => {
  const sources: Record<string, CounterSource> = {
    "the counter's entries": { entries: true },
    "a collection": { collection: "posts" },
    "a subcollection": { collection: "posts/42/comments" },
    "a collection group": { collectionGroup: "comments" },
    "a sum": { collection: "orders", sum: "total.net" },
    "a filter": { collection: "posts", where: [filter] },
    "filters and a sum": { collectionGroup: "items", where: [filter, { ...filter, op: "!=" }], sum: "price" },
  };
  test.each(Object.entries(sources))("%s", (_what, source) => {
    expect(validSource(source)).toEqual(source);
  });

  // A missing operator does not compile.
  const operators: Record<CounterSourceOperator, unknown> = {
    "<": 1,
    "<=": 1,
    "==": null,
    "!=": false,
    ">=": "a",
    ">": new Date(0),
    in: ["a", "b"],
    "not-in": ["a"],
    "array-contains": "a",
    "array-contains-any": ["a"],
  };
  test.each(Object.entries(operators))("an operator: %s %j", (op, value) => {
    const source = { collection: "posts", where: [{ field: "f", op, value }] };
    expect(validSource(source)).toEqual(source);
  });

  test("but other forms that are undefined, and an empty where, are left out, because they cannot be stored", () => {
    const source = { collection: "posts", collectionGroup: undefined, entries: undefined, where: [] };
    expect(Object.keys(validSource(source))).toEqual(["collection"]);
  });

  test.each(["where", "sum"])(
    "and one with %s that is undefined is refused: without it, other documents count",
    (part) => {
      const source = { collection: "posts", [part]: undefined };
      expect(() => validSource(source)).toThrow(expect.objectContaining({ code: "counter/invalid-source" }));
    },
  );
});

describe("an invalid source is refused, with what is wrong and what to pass", () => {
  const where = (...filters: unknown[]) => ({ collection: "posts", where: filters });
  const forms = "pass { entries: true }, { collection:";
  test.each<[wrong: string, pass: string, source: unknown]>([
    ['source is "undefined"', forms, undefined],
    ['source is "null"', forms, null],
    ['source is "posts"', forms, "posts"],
    ['source is "a list"', forms, ["posts"]],
    ['source is ""', forms, {}],
    ['source is "entries, collection"', forms, { entries: true, collection: "posts" }],
    ['source is "collection, collectionGroup"', forms, { collection: "posts", collectionGroup: "posts" }],
    ['entries is "false"', "pass true", { entries: false }],
    ['a key of source is "sum"', "pass entries", { entries: true, sum: "by" }],
    ['a key of source is "were"', "pass collection, collectionGroup, where, sum", { collection: "posts", were: [] }],
    ['collection is "posts/42"', "pass the path of a collection", { collection: "posts/42" }],
    ['collection is ""', "pass the path", { collection: "" }],
    ['collection is "/posts"', "pass the path", { collection: "/posts" }],
    ['collection is "a//b"', "pass the path", { collection: "a//b" }],
    ['collection is "a/../b"', "pass the path", { collection: "a/../b" }],
    ['collection is "42"', "pass the path", { collection: 42 }],
    ['collectionGroup is "posts/42/comments"', "pass the last part", { collectionGroup: "posts/42/comments" }],
    ['collectionGroup is "__x__"', "pass the last part", { collectionGroup: "__x__" }],
    ['sum is "a..b"', "pass the path of a field", { collection: "posts", sum: "a..b" }],
    ['sum is ""', "pass the path of a field", { collection: "posts", sum: "" }],
    ['sum is "1"', "pass the path of a field", { collection: "posts", sum: 1 }],
    ['where is "field, op, value"', "pass a list of { field, op, value }", { collection: "posts", where: filter }],
    ['a filter in where is "a list"', "pass { field, op, value }", where(["state", "==", "public"])],
    ['a key of a filter in where is "operator"', "pass field, op, value", where({ ...filter, operator: "==" })],
    ['field is "a/b"', "pass the path of a field", where({ ...filter, field: "a/b" })],
    ['op is "="', "pass one of < <= ==", where({ ...filter, op: "=" })],
    ['op is "toString"', "pass one of", where({ ...filter, op: "toString" })],
    ['op is "undefined"', "pass one of", where({ ...filter, op: undefined })],
    ['value is "undefined"', "pass what a field can hold", where({ ...filter, value: undefined })],
    ['the value for in is "public"', "pass a list of 1 to 30 values", where({ ...filter, op: "in" })],
    ['the value for in is "a list"', "pass a list of 1 to 30", where({ ...filter, op: "in", value: [] })],
    ['the value for not-in is "a list"', "1 to 10", where({ ...filter, op: "not-in", value: Array(11).fill(0) })],
  ])("%s; %s", (wrong, pass, source) => {
    const [told, advice] = refusal(() => validSource(source)).split("; ");
    expect(told).toBe(wrong);
    expect(advice?.startsWith(pass) || advice?.includes(pass)).toBe(true);
  });

  test("any invalid value is refused with a CounterError, never a TypeError", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true }), (source) => {
        try {
          validSource(source);
        } catch (error) {
          expect(error).toBeInstanceOf(CounterError);
        }
      }),
    );
    expect(refusal(() => validSource(Symbol("posts")))).toContain("Symbol(posts)");
  });
});

describe("the schedule", () => {
  test("is every five minutes to 366 days, or absent", () => {
    expect(validSchedule(undefined, 0)).toEqual({ alarmBeyond: 0 });
    for (const seconds of [300, 366 * 86_400]) {
      expect(validSchedule(seconds, 2.5)).toEqual({ everySeconds: seconds, alarmBeyond: 2.5 });
    }
    // 86,400 meant as seconds: a day.
    expect(refusal(() => validSchedule(86_400 / 1_000, 0))).toBe(
      'every is "86.4 seconds"; pass milliseconds, from 300_000 (five minutes) to 366 days',
    );
    for (const seconds of [0, -1, 299, 366 * 86_400 + 1, Number.NaN, Number.POSITIVE_INFINITY, "300", null]) {
      expect(refusal(() => validSchedule(seconds, 0))).toContain("every is");
    }
  });

  test("has an alarm threshold of 0 or more", () => {
    for (const beyond of [-1, Number.NaN, Number.POSITIVE_INFINITY, "1", null, undefined]) {
      expect(refusal(() => validSchedule(300, beyond))).toContain("alarmBeyond is");
    }
  });
});

test("a stored source is read back with its schedule", () => {
  const source: CounterSource = { collection: "posts", where: [filter], sum: "score" };
  expect(parseSource({ ...source, everySeconds: 300, alarmBeyond: 1 })).toEqual({
    source,
    schedule: { everySeconds: 300, alarmBeyond: 1 },
  });
  expect(parseSource({ entries: true, alarmBeyond: 0 })).toEqual({
    source: { entries: true },
    schedule: { alarmBeyond: 0 },
  });
  for (const damaged of [undefined, null, "posts", {}, { collection: "posts" }, { alarmBeyond: 0 }]) {
    refusal(() => parseSource(damaged));
  }
});

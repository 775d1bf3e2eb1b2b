import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CounterError } from "./errors.ts";
import { validAmount, validCollection, validCounterId, validShardKey } from "./validation.ts";

const bytes = (text: string) => new TextEncoder().encode(text).length;

function refusal(check: (value: unknown) => unknown, value: unknown): CounterError {
  try {
    check(value);
  } catch (error) {
    expect(error).toBeInstanceOf(CounterError);
    return error as CounterError;
  }
  throw new Error(`${JSON.stringify(value)} was accepted`);
}

describe("ids of counters and collections", () => {
  const checks = [
    [validCounterId, "counter/invalid-id", 'use something like "views:home"'],
    [validCollection, "counter/invalid-collection", 'by default "counters"'],
  ] as const;

  const wellFormed = fc.string({ unit: "binary" });

  const refused: [says: string, id: unknown][] = [
    ['"" is empty', ""],
    ['"a/b" has a "/"', "a/b"],
    ['"/" has a "/"', "/"],
    ['"." is a path segment', "."],
    ['".." is a path segment', ".."],
    ['"__x__" is reserved', "__x__"],
    ['"____" is reserved', "____"],
    ['"__two\\nlines__" is reserved', "__two\nlines__"],
    ['"\\ud83d" is not valid Unicode', "\ud83d"],
    ["undefined is not a string", undefined],
    ["null is not a string", null],
    ["42 is not a string", 42],
    ["Symbol(id) is not a string", Symbol("id")],
    ["[object Object] is not a string", {}],
  ];

  test.each(refused)("%s: refused with the code, the value and what to do", (says, id) => {
    for (const [check, code, advice] of checks) {
      const error = refusal(check, id);
      expect(error.code).toBe(code);
      expect(error.message).toMatch(new RegExp(`^${code}: `));
      expect(error.message).toContain(says);
      expect(error.message).toContain(advice);
    }
  });

  const accepted = "... .a __ ___ __x x__ _x_ a__b__ : likes:post42 größe 数 😀".split(" ");

  test.each(accepted)("%j is accepted", (id) => {
    for (const [check] of checks) expect(check(id)).toBe(id);
  });

  test("any text without a slash is accepted as it is, unless it is empty, a dot segment or __…__", () => {
    const ids = wellFormed.filter((id) => !/\/|^(|\.|\.\.|__.*__)$/s.test(id));
    fc.assert(fc.property(ids, (id) => checks.every(([check]) => check(id) === id)));
  });

  test("any text with half of a surrogate pair is refused", () => {
    const halves = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit));
    fc.assert(
      fc.property(wellFormed, halves, wellFormed, (before, half, after) => {
        for (const [check, code] of checks) expect(refusal(check, before + half + after).code).toBe(code);
      }),
    );
  });

  test.each(["a", "é", "数", "😀"])("1,500 bytes of %s are accepted and one byte more is refused", (one) => {
    const longest = one.repeat(1_500 / bytes(one));
    for (const [check] of checks) {
      expect(check(longest)).toBe(longest);
      expect(refusal(check, `${longest}a`).message).toContain("is 1501 bytes long, more than 1500");
    }
  });

  test("an error message stays short however long the id is", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_501, max: 20_000 }), (length) => {
        for (const [check] of checks) expect(refusal(check, "x".repeat(length)).message.length).toBeLessThan(300);
      }),
    );
  });
});

describe("amounts", () => {
  const refused = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, -0, true, null, undefined];

  test.each(refused)("%s is refused: the code, the value and what to do", (by) => {
    const error = refusal(validAmount, by);
    expect(error.code).toBe("counter/invalid-amount");
    expect(error.message).toBe(
      `counter/invalid-amount: increment by ${by}; pass a finite, non-zero number such as 1 or -1`,
    );
  });

  test("that are no numbers but look like one are refused as they were typed", () => {
    expect(refusal(validAmount, "1").message).toContain('increment by "1"; pass');
    expect(refusal(validAmount, 1n).message).toContain("increment by 1n; pass");
  });

  test("every finite number but zero is accepted as it is", () => {
    const amounts = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((by) => by !== 0);
    fc.assert(fc.property(amounts, (by) => validAmount(by) === by));
  });
});

describe("shard keys", () => {
  test("are refused if empty or no text: the code, the value and what to do", () => {
    for (const key of ["", 7, null]) {
      const error = refusal(validShardKey, key);
      expect(error.code).toBe("counter/invalid-option");
      expect(error.message).toContain(`shardKey is ${JSON.stringify(key)}; pass a non-empty string`);
    }
  });

  test("are any other text", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", minLength: 1 }), (key) => validShardKey(key) === key));
  });
});

test("a value that has no text form is refused like any other", () => {
  const checks = [validCounterId, validCollection, validAmount, validShardKey];
  for (const check of checks) expect(refusal(check, Object.create(null))).toBeInstanceOf(CounterError);
});

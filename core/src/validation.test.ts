import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CounterError } from "./errors.ts";
import {
  givenAmount,
  givenFlag,
  givenName,
  isDocumentId,
  validAmount,
  validGroup,
  validIncrement,
  validName,
} from "./validation.ts";

const bytes = (text: string) => new TextEncoder().encode(text).length;

function refusal(check: (value: unknown) => unknown, value: unknown): CounterError {
  try {
    check(value);
  } catch (error) {
    expect(error).toBeInstanceOf(CounterError);
    return error as CounterError;
  }
  throw new Error(`${String(value)} was accepted`);
}

describe.each(["id", "collection", "once", "key"] as const)("a document id as the %s", (what) => {
  const check = (name: unknown) => validName(what, name);
  const wellFormed = fc.string({ unit: "binary" });

  test.each<[shown: string, name: unknown, wrong?: string]>([
    ["", ""],
    ["a/b", "a/b", "/"],
    ["/", "/", "/"],
    ["a\n/", "a\n/", "%0A"],
    [".", ".", "."],
    ["..", "..", ".."],
    ["__x__", "__x__", "__"],
    ["____", "____", "__"],
    ["a\u0000", "a\u0000", "%00"],
    ["\u001b[2J", "\u001b[2J", "%1B"],
    ["a\tb", "a\tb", "%09"],
    ["\u007f", "\u007f", "%7F"],
    ["\u009b", "\u009b", "%9B"],
    ["__two\nlines__", "__two\nlines__", "__"],
    ["\ud83d", "\ud83d", "%uD83D"],
    ["undefined", undefined],
    ["42", 42],
    ["Symbol(id)", Symbol("id")],
    ["object", null],
    ["object", {}],
    ["object", ["a/b"]],
    ["object", Object.create(null)],
  ])("%j is refused: the error has the code, the value and what to do", (shown, name, wrong) => {
    const error = refusal(check, name);
    expect(error.code).toBe(`counter/invalid-${what}`);
    const advice = `pass 1-1500 bytes${wrong ? ` without "${wrong}"` : ""}`;
    expect(error.message).toBe(`counter/invalid-${what}: ${what} is "${shown}"; ${advice}`);
    expect(isDocumentId(name)).toBe(false);
  });

  test.each("... .a __ ___ __x x__ _x_ a__b__ : % %2F likes:post42 größe 数 😀".split(" "))(
    "%j is accepted",
    (name) => {
      expect(check(name)).toBe(name);
      expect(isDocumentId(name)).toBe(true);
    },
  );

  test("any text without a slash or a control character is accepted unchanged, unless it is empty, a dot segment or __…__", () => {
    const names = wellFormed.filter((name) => !/[/\p{Cc}]|^(|\.|\.\.|__.*__)$/su.test(name));
    fc.assert(fc.property(names, (name) => check(name) === name));
  });

  test("any text with half of a surrogate pair is refused", () => {
    const halves = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit));
    fc.assert(
      fc.property(wellFormed, halves, wellFormed, (before, half, after) => {
        const name = before + half + after;
        fc.pre(!name.isWellFormed());
        expect(refusal(check, name).code).toBe(`counter/invalid-${what}`);
      }),
    );
  });

  test.each(["a", "%", "é", "数", "😀"])("1,500 bytes of %s are accepted and one byte more is refused", (one) => {
    const longest = one.repeat(1_500 / bytes(one));
    expect(check(longest)).toBe(longest);
    expect(refusal(check, `${longest}a`).code).toBe(`counter/invalid-${what}`);
  });

  test("the error message of a long name is short", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_501, max: 20_000 }), (length) => {
        expect(refusal(check, "x".repeat(length)).message.length).toBeLessThan(200);
      }),
    );
  });
});

describe("amounts", () => {
  test.each<[shown: string, by: unknown]>([
    ["NaN", Number.NaN],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["0", 0],
    ["0", -0],
    ["1", "1"],
    ["1", 1n],
    ["true", true],
    ["undefined", undefined],
    ["object", null],
    ["object", [1]],
    ["object", Object.create(null)],
  ])('"%s" is refused: the error has the code, the value and what to do', (shown, by) => {
    const error = refusal(validAmount, by);
    expect(error.code).toBe("counter/invalid-amount");
    expect(error.message).toBe(`counter/invalid-amount: amount is "${shown}"; pass a number within ±2^53, not 0`);
  });

  const most = Number.MAX_SAFE_INTEGER;

  test("every number within ±2^53 but zero is accepted unchanged", () => {
    const amounts = fc.double({ noNaN: true, min: -most, max: most }).filter((by) => by !== 0);
    fc.assert(fc.property(amounts, (by) => validAmount(by) === by));
  });

  test("a larger number is refused, because a sum of such amounts could be infinite", () => {
    const amounts = fc.double({ noNaN: true, min: most + 1 });
    fc.assert(fc.property(amounts, (by) => !!refusal(validAmount, by) && !!refusal(validAmount, -by)));
  });
});

describe("what is left out has a default; what is passed and undefined is refused", () => {
  test("an amount", () => {
    expect(givenAmount([])).toBe(1);
    expect(givenAmount([3])).toBe(3);
    expect(refusal(givenAmount as never, [undefined]).code).toBe("counter/invalid-amount");
  });

  test("`once` and a collection", () => {
    for (const what of ["once", "collection"] as const) {
      for (const none of [undefined, {}]) expect(givenName(none, what)).toBeUndefined();
      expect(givenName({ [what]: "a" }, what)).toBe("a");
      for (const value of [undefined, null, "", 5, Number.NaN, {}]) {
        const error = refusal((options) => givenName(options, what), { [what]: value });
        expect(error.code).toBe(`counter/invalid-${what}`);
      }
      // What counts once that is passed instead of { once }.
      for (const wrong of ["alice", "", 0, null]) expect(() => givenName(wrong, what)).toThrow(TypeError);
    }
  });

  test("an increment", () => {
    expect(validIncrement([])).toEqual([1, undefined]);
    expect(validIncrement([2, { once: "a" }])).toEqual([2, "a"]);
    expect(validIncrement([2, undefined])).toEqual([2, undefined]);
  });

  test("a flag", () => {
    for (const none of [undefined, {}, { flag: false }]) expect(givenFlag(none, "flag")).toBe(false);
    expect(givenFlag({ flag: true }, "flag")).toBe(true);
    for (const flag of [undefined, null, 0, 1, "", "true"]) {
      expect(refusal((options) => givenFlag(options, "flag"), { flag }).code).toBe("counter/invalid-option");
    }
  });
});

describe("the group of a query", () => {
  test("is the part of ids before the first colon, empty for ids without one", () => {
    for (const group of ["likes", "", "é x"]) expect(validGroup(group)).toBe(group);
  });

  test.each([
    ["likes:acme", "likes:acme"],
    [":", ":"],
    ["undefined", undefined],
    ["object", null],
    ["5", 5],
  ])("%s is refused", (shown, group) => {
    const error = refusal(validGroup, group);
    expect(error.code).toBe("counter/invalid-option");
    expect(error.message).toContain(`group is "${shown}"; pass the part of ids before the first colon`);
  });
});

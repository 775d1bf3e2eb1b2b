import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { clamp, columnsOf, wrap, wrapMessage } from "./wrap.ts";

const REMEDY =
  "pass --project demo-tally, or start the suite for your project: `firebase emulators:start --only firestore`, (`npm test`) " +
  "and read https://github.com/firestore-tally/firestore-tally/blob/main/docs/adopting.md";

describe("wrap", () => {
  test.each([40, 60, 80, 120])("cuts no word, no code and no link at %i columns", (width) => {
    const lines = wrap(REMEDY, width);
    expect(lines.join(" ")).toBe(REMEDY);
    const whole = ["`firebase emulators:start --only firestore`,", "(`npm test`)", REMEDY.split(" ").at(-1)];
    for (const part of whole) expect(lines.some((line) => line.includes(part as string))).toBe(true);
    for (const line of lines.filter((one) => one.includes(" ") && !one.startsWith("`")))
      expect(stringWidth(line)).toBeLessThanOrEqual(width);
  });

  test("takes a word that fits exactly, and pairs backticks from the left", () => {
    expect(wrap("aaa bbb cc", 7)).toEqual(["aaa bbb", "cc"]);
    expect(wrap("aaa bbb cc", 6)).toEqual(["aaa", "bbb cc"]);
    expect(wrap("`a b`, `c d` e", 6)).toEqual(["`a b`,", "`c d`", "e"]);
    expect(wrap("one ` alone", 6)).toEqual(["one `", "alone"]);
  });

  test("counts two columns for a wide character, and none for a style", () => {
    expect(wrap("計数 計数", 8)).toEqual(["計数", "計数"]);
    expect(wrap("\u001b[33m!\u001b[39m ab", 4)).toHaveLength(1);
  });

  test("clamps long words but links, where it shall", () => {
    const link = "https://example.com/a/long/path";
    expect(wrap(`likes:${"a".repeat(99)}z at ${link}`, 12, "clamped")).toEqual(["likes:…aaaaz", "at", link]);
  });
});

test("a message keeps its lines, and a line that is a command", () => {
  const command = "  npx firestore-tally delete --group likes --after likes:41";
  expect(wrapMessage(`interrupted after 3 of 9. Resume with:\n${command}`, 20)).toBe(
    `interrupted after 3\nof 9. Resume with:\n${command}`,
  );
});

describe("clamp", () => {
  test("keeps the group and the end", () => {
    expect(clamp(`likes:${"a".repeat(1_490)}zz42`, 16)).toBe("likes:aa…aaazz42");
    expect(clamp("likes:post42", 12)).toBe("likes:post42");
  });

  test("is as wide as allowed, and cuts no grapheme", () => {
    const family = "👨‍👩‍👧‍👦";
    expect(clamp(family.repeat(9), 6)).toBe(`${family}…${family}`);
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 40 }), (text, width) => {
        const clamped = clamp(text, width);
        expect(stringWidth(clamped)).toBeLessThanOrEqual(Math.max(width, 1));
        const [start = "", end = ""] =
          clamped === text ? [text, ""] : clamped.split("…").length === 2 ? clamped.split("…") : [];
        expect(text.startsWith(start) && text.endsWith(end)).toBe(true);
        expect(clamped.isWellFormed()).toBe(text.isWellFormed());
      }),
    );
  });
});

test("a line is as wide as the terminal, at most 100 columns, and 80 without one", () => {
  const widthOf = (stream: object) => columnsOf(stream as NodeJS.WriteStream);
  expect(widthOf({ isTTY: true, columns: 50 })).toBe(50);
  expect(widthOf({ isTTY: true, columns: 240 })).toBe(100);
  expect([widthOf({}), widthOf({ isTTY: true, columns: 0 })]).toEqual([80, 80]);
});

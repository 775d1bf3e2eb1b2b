import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { escapeControls, shellQuote } from "./escape.ts";

test.each([
  ["likes:post42", "likes:post42"],
  ["größe 100% 漢字 🙂 it's", "größe 100% 漢字 🙂 it's"],
  ["a\u001b[2Jb", "a\\u{1b}[2Jb"],
  ["a\r\nb\tc\u0000", "a\\u{d}\\u{a}b\\u{9}c\\u{0}"],
  ["\u007f\u0080\u009b31m\u009f", "\\u{7f}\\u{80}\\u{9b}31m\\u{9f}"],
  ["\u200e\u200f\u202a\u202e\u2066\u2069", "\\u{200e}\\u{200f}\\u{202a}\\u{202e}\\u{2066}\\u{2069}"],
])("control characters are escaped: %j", (id, printed) => {
  expect(escapeControls(id)).toBe(printed);
});

test.skipIf(process.platform === "win32")(
  "a shell reads a quoted id back unchanged, and the quoted text has no control characters",
  () => {
    const character = fc.constantFrom(..."a1:'\"\\\\$`! \n\t\u001b\u007f\u009b\u202e\u2066é🙂");
    const ids = fc.sample(fc.string({ unit: character }), 100);
    const words = [...ids, "\u001b1", "\u202ea", "'\u0007\\", ""].map(shellQuote);
    for (const word of words) expect(escapeControls(word)).toBe(word);
    const given = execFileSync("bash", ["-c", `printf '%s\\0' ${words.join(" ")}`], { encoding: "utf8" });
    expect(given.split("\0").slice(0, -1)).toEqual([...ids, "\u001b1", "\u202ea", "'\u0007\\", ""]);
  },
);

import { expect, test } from "vitest";
import { AVOIDED, findAvoided } from "./prose.ts";

test("a word is found in a comment, a string and a document, with its line and what to write", () => {
  const text = '/** Starts. */\n// Whoever calls\nthrow "nobody answers"; // somebodyElse\n';
  expect(findAvoided(text)).toEqual([
    { line: 2, word: "whoever", instead: AVOIDED.whoever },
    { line: 3, word: "nobody", instead: AVOIDED.nobody },
  ]);
});

test("a phrase is found across the lines of a comment", () => {
  expect(findAvoided(" * the size of\n * it is\n")).toMatchObject([{ line: 1, word: "of it" }]);
});

test.each(["of its size", "a label", "consents", "the whoevers"])("%s is accepted: only whole words count", (text) => {
  expect(findAvoided(text)).toEqual([]);
});

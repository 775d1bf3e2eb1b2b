import fc from "fast-check";
import { expect, test } from "vitest";
import { resumption, selectionOf } from "./round.ts";

test("counters are named, or a group is: not both, not neither", () => {
  expect(() => selectionOf([], {})).toThrow("--group");
  expect(() => selectionOf(["a"], { group: "g" })).toThrow("--group");
  expect(selectionOf(["a"], {}).ids).toEqual(["a"]);
  expect(() => selectionOf(["a"], { ungrouped: true })).toThrow("--group");
  expect(() => selectionOf([], { group: "g", ungrouped: true })).toThrow("--group");
  expect(selectionOf([], { group: "g" }).group).toBe("g");
});

test("the counters without a group are named as such, not by an empty name", () => {
  expect(() => selectionOf([], { group: "" })).toThrow("--ungrouped");
  expect(selectionOf([], { ungrouped: true })).toEqual({ ids: [], group: "", after: undefined });
});

test("--after leaves out what is done, and must be one of the counters named", () => {
  expect(selectionOf(["c", "a", "b"], { after: "a" }).ids).toEqual(["b"]);
  expect(() => selectionOf(["a"], { after: "x" })).toThrow("--after x");
});

test("a round goes on with the same command, after the last counter that is done", () => {
  expect(resumption(["delete", "--group", "likes", "--yes"], "likes:7")).toBe(
    "npx firestore-tally delete --group likes --yes --after likes:7",
  );
  expect(resumption(["fold", "--after", "a", "--group", "g"], "b")).toBe(
    "npx firestore-tally fold --group g --after b",
  );
  expect(resumption(["fold", "--after=a", "--group", "g"], "b")).toBe("npx firestore-tally fold --group g --after b");
  expect(resumption(["fold", "--", "-a", "-b"], "-a")).toBe("npx firestore-tally fold --after -a -- -a -b");
  expect(resumption(["fold", "--group", "it's"], undefined)).toBe("npx firestore-tally fold --group 'it'\\''s'");
  expect(resumption(["fold", "--group", "g"], "g:\u001b[2J\u202e'")).toBe(
    "npx firestore-tally fold --group g --after $'g:\\033[2J\\342\\200\\256\\''",
  );
});

test("however often it is interrupted, it goes on after one counter", () => {
  const id = fc.stringMatching(/^[a-z0-9:]{1,8}$/);
  fc.assert(
    fc.property(fc.array(id, { minLength: 1, maxLength: 5 }), (ids) => {
      const typed = ids.reduce<string[]>(
        (words, after) => resumption(words, after).split(" ").slice(2),
        ["delete", "--group", "g"],
      );
      expect(typed).toEqual(["delete", "--group", "g", "--after", ids.at(-1)]);
    }),
  );
});

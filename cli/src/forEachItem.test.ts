import fc from "fast-check";
import { expect, test } from "vitest";
import { resumeCommand } from "./forEachItem.ts";

test("an interrupted run resumes with the same command, after the last finished counter", () => {
  expect(resumeCommand(["delete", "--group", "likes", "--yes"], "likes:7")).toBe(
    "npx firestore-tally delete --group likes --yes --after likes:7",
  );
  expect(resumeCommand(["fold", "--after", "a", "--group", "g"], "b")).toBe(
    "npx firestore-tally fold --group g --after b",
  );
  expect(resumeCommand(["fold", "--after=a", "--group", "g"], "b")).toBe(
    "npx firestore-tally fold --group g --after b",
  );
  expect(resumeCommand(["fold", "--", "-a", "-b"], "-a")).toBe("npx firestore-tally fold --after -a -- -a -b");
  expect(resumeCommand(["fold", "--group", "it's"], undefined)).toBe("npx firestore-tally fold --group 'it'\\''s'");
  expect(resumeCommand(["fold", "--group", "g"], "g:\u001b[2J\u202e'")).toBe(
    "npx firestore-tally fold --group g --after $'g:\\033[2J\\342\\200\\256\\''",
  );
});

test("after any number of interruptions the command has one --after", () => {
  const id = fc.stringMatching(/^[a-z0-9:]{1,8}$/);
  fc.assert(
    fc.property(fc.array(id, { minLength: 1, maxLength: 5 }), (ids) => {
      const typed = ids.reduce<string[]>(
        (words, after) => resumeCommand(words, after).split(" ").slice(2),
        ["delete", "--group", "g"],
      );
      expect(typed).toEqual(["delete", "--group", "g", "--after", ids.at(-1)]);
    }),
  );
});

import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { forEachItem, resumeCommand } from "./forEachItem.ts";

test("a listing whose pages have no item may take any time, if it reports them", async () => {
  vi.useFakeTimers();
  const pages = async (madeProgress: () => void) => {
    for (let page = 0; page < 5; page++) {
      await new Promise((resolve) => setTimeout(resolve, 4 * 60_000));
      madeProgress();
    }
  };
  const run = forEachItem(
    {
      noun: "document",
      count: 1,
      async *ids(madeProgress) {
        await pages(madeProgress);
        yield "last";
      },
    },
    { label: "Moving", work: async () => ({}) },
  );
  await vi.advanceTimersByTimeAsync(21 * 60_000).finally(() => vi.useRealTimers());
  expect(await run).toMatchObject({ outcomes: [{ id: "last" }], after: "last" });
  expect((await run).endedBy).toBeUndefined();
});

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

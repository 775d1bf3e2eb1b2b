/** What one commit of a publish holds. That Firestore keeps its preconditions is for `test/`. */
import { describe, expect, test } from "vitest";
import { idle } from "../../testing/arbitraries.ts";
import { AS_OF, COUNTER, NEXT, publishing, UPDATE_TIME } from "../../testing/publishing.ts";
import { serializeCounter } from "./counterDocument.ts";

const document = serializeCounter("likes:42", NEXT, AS_OF);
const guarded = ["update", COUNTER, document, { lastUpdateTime: UPDATE_TIME }];
const PERMISSION_DENIED = 7;

describe("a publish", () => {
  test("I3: has the precondition that the counter document is as it was read", async () => {
    const { commits, isPublished } = await publishing({ published: idle });
    expect({ commits, isPublished }).toEqual({ commits: [[guarded]], isPublished: true });
  });

  test("I3: creates the document if there was none, and keeps fields that a server has written before", async () => {
    const created = await publishing({});
    expect(created.commits[0]?.[0]).toEqual(["create", COUNTER, document]);
    const prepared = await publishing({ updateTime: UPDATE_TIME });
    expect(prepared.commits[0]?.[0]).toEqual(guarded);
  });

  test.each([
    ["another has published since", 9],
    ["another has created it", 6],
    ["it was deleted", 5],
  ])("says so if %s", async (_why, code) => {
    const { isPublished } = await publishing({ published: { ...idle, total: 43 }, codes: [code, code] });
    expect(isPublished).toBe(false);
  });

  test("rejects with other errors", async () => {
    const refused = publishing({ published: idle, codes: [PERMISSION_DENIED] });
    await expect(refused).rejects.toMatchObject({ code: PERMISSION_DENIED });
  });
});

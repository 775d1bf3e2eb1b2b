import { expect, test } from "vitest";
import type { Backend } from "./backend.ts";
import { beginningBetween, runSweep } from "./sweep.ts";

test("the sweep looks for counters to reconcile, and for lost polls, though the other query never ends", () => {
  const fields: string[] = [];
  const query: Record<string, (field: string) => unknown> = {
    where(field) {
      fields.push(field);
      return query;
    },
    orderBy: () => query,
    limit: () => query,
    get: () => new Promise(() => {}),
  };
  void runSweep({ counters: query, now: Date.now } as unknown as Backend);
  expect(fields).toEqual(expect.arrayContaining(["phase", "nextReconcileAt"]));
});

test.each([
  ["likes:post17", "likes:post93", ["likes:post1", "likes:post2", "likes:post8", "likes:post9"]],
  ["comments:a", "views:z", ["c", "d", "u", "v"]],
  [".a", "~b", [".", "0", "z", "~"]],
  ["likes", "likes:7", ["likes"]],
  ["x".repeat(1_500), `${"x".repeat(1_499)}y`, ["x".repeat(100)]],
  ["a😀", "a😁", ["a😀", "a😁"]],
  ["likes:7", "likes:7", ["likes:7"]],
])("of %s and %s, a beginning between is among others %j", (first, last, expected) => {
  const found = Array.from({ length: 200 }, (_, n) => beginningBetween(first, last, () => n / 200));
  expect(found).toEqual(expect.arrayContaining(expected));
  expect([...found].sort()).toEqual(found);
});

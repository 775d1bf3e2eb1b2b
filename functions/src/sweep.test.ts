import { expect, test } from "vitest";
import type { Backend } from "./backend.ts";
import { inGroupOf, runSweep } from "./sweep.ts";

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
  ["views:home", "views:x1"],
  ["members:a:b", "members:x1"],
  ["visits", "x1"],
])("the sweep starts among the ids of a group: %s", (id, start) => {
  expect(inGroupOf(id, "x1")).toBe(start);
});

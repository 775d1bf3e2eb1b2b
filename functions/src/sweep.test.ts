import { expect, test } from "vitest";
import type { Backend } from "./backend.ts";
import { runSweep, startNear } from "./sweep.ts";

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

test("the sweep starts anywhere among ids that begin alike", () => {
  const starts = Array.from({ length: 12 }, (_, n) => startNear("likes:post7", () => n / 12, "4x"));
  expect(starts[0]).toBe("4x");
  expect(starts).toContain("likes:4x");
  expect(starts).toContain("likes:post4x");
  expect(starts[11]).toBe("likes:post74x");
});

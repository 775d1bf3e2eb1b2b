import { expect, test } from "vitest";
import type { Backend } from "../counter/backend.ts";
import { DEFAULT_CONFIG } from "./defaultConfig.ts";
import { runSweep } from "./runSweep.ts";

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
  void runSweep({ config: DEFAULT_CONFIG, counters: query, connections: {}, now: Date.now } as unknown as Backend);
  expect(fields).toEqual(expect.arrayContaining(["phase", "nextReconcileAt"]));
});

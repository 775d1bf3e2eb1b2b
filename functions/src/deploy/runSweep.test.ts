import { expect, test } from "vitest";
import type { DeployedBackend } from "../features/backend.ts";
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
  void runSweep({ config: DEFAULT_CONFIG, counters: query, now: Date.now } as unknown as DeployedBackend);
  expect(fields).toEqual(expect.arrayContaining(["phase", "nextReconcileAt"]));
});

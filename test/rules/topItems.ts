/** Top items: clients read what is published, as they read the total, and write nothing. */
import { describe, test } from "vitest";
import { hides, newCounter, OPERATOR, refuses, shows, store } from "./environment.ts";
import { remove, set } from "./writes.ts";

describe.concurrent("top items", () => {
  test.each([
    ["tallySketches/topItems", "are read by every client", ["alice", null, OPERATOR]],
    ["tallySketches/itemSummary", "are read with the whole summary by operators alone", [OPERATOR]],
    ["tallyItemCounts/x", "are read by no client while they wait", []],
  ] as const)("in %s %s, and written by none", async (document, _, readers) => {
    const path = `${newCounter()}/${document}`;
    for (const user of [null, OPERATOR]) await refuses(user, set(path, { total: 1 }));
    await store(path, { total: 1 });
    await shows(path, ...readers);
    await hides(path, ...[null, "alice", OPERATOR].filter((user) => !readers.some((reader) => reader === user)));
    await hides(path.slice(0, path.lastIndexOf("/")), null, "alice");
    for (const user of [null, "alice", OPERATOR]) await refuses(user, set(path, { total: 2 }));
    for (const user of [null, "alice", OPERATOR]) await refuses(user, remove(path));
  });
});

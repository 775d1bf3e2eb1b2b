import { expect, test } from "vitest";
import { hasCounted } from "./wake.ts";

test.each([
  ["an increment", { count: 2, writes: 2 }, true],
  ["an increment by zero in all", { count: 1, writes: 2 }, true],
  ["a server's write that leaves `writes` as it is", { count: 2, writes: 1 }, true],
  ["the removal of expired marks", { count: 1, writes: 1 }, false],
])("an update that counts: %s", (_, after, expected) => {
  const shard = (fields: Record<string, number>) => ({ get: (field: string) => fields[field] });
  expect(hasCounted(shard({ count: 1, writes: 1 }), shard(after))).toBe(expected);
});

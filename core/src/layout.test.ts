import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BASE_SHARD, counterPath, DEFAULT_COLLECTION, entryPath, groupOf, MAX_SHARDS, shardsPath } from "./layout.ts";

const rules = readFileSync(new URL("../../firestore.rules", import.meta.url), "utf8");

describe("the group of a counter", () => {
  test.each([
    ["likes:post42", "likes"],
    ["likes:post:42", "likes"],
    ["likes:", "likes"],
    [":post42", ""],
    ["home", ""],
    ["", ""],
    ["two\nlines:x", "two\nlines"],
  ])("of %j is %j", (id, group) => {
    expect(groupOf(id)).toBe(group);
  });

  test("is the same as in the rules: the part before the first colon, empty without a colon", () => {
    expect(rules).toContain("return counter.matches('(?s).*:.*') ? counter.split(':')[0] : '';");
    const ids = fc.string({ unit: fc.constantFrom("a", ":", "é", "\n", "😀") });
    fc.assert(fc.property(ids, (id) => groupOf(id) === (/.*:.*/s.test(id) ? id.split(":")[0] : "")));
  });
});

describe("the paths of documents", () => {
  test("are those of the rules: counters/{id}, with shards and entries under it", () => {
    expect(DEFAULT_COLLECTION).toBe("counters");
    expect(rules).toContain(`match /${DEFAULT_COLLECTION}/{counter} {`);
    expect(rules).toContain("match /shards/{shard} {");
    expect(rules).toContain("match /tallyEntries/{once} {");
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (collection, id, once) => {
        const counter = counterPath(collection, id);
        expect(counter).toBe(`${collection}/${id}`);
        expect(shardsPath(counter)).toBe(`${collection}/${id}/shards`);
        expect(entryPath(counter, once)).toBe(`${collection}/${id}/tallyEntries/${once}`);
      }),
    );
  });

  test("clients may write the shards 0 to MAX_SHARDS - 1, and not base", () => {
    const index = new RegExp(/shard\.matches\('(.+?)'\)/.exec(rules)?.[1] ?? "no shard index in firestore.rules");
    fc.assert(fc.property(fc.nat(MAX_SHARDS - 1), (n) => index.test(String(n))));
    for (const id of ["0", String(MAX_SHARDS - 1)]) expect(id).toMatch(index);
    for (const id of [BASE_SHARD, String(MAX_SHARDS), "-1", "00", "01", ""]) expect(id).not.toMatch(index);
  });
});

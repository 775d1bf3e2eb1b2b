import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { addIndexes, indexesOf, removeIndexes } from "./indexesJson.ts";

const shipped = readFileSync(new URL("../../../firestore.indexes.json", import.meta.url), "utf8");
const tally = indexesOf(shipped, "counters", "standard");
const PATH = "firestore.indexes.json";

test.each([undefined, "", "{}", '{ "indexes": [] }'])("%j gets all of Tally's indexes", (before) => {
  const { text, differing } = addIndexes(PATH, before, tally);
  expect(JSON.parse(text)).toEqual(JSON.parse(shipped));
  expect(differing).toEqual([]);
});

test("the app's own stay, a second time changes nothing, and Tally's are removed again", () => {
  const own = { collectionGroup: "posts", queryScope: "COLLECTION", fields: [{ fieldPath: "a", order: "ASCENDING" }] };
  const override = { collectionGroup: "posts", fieldPath: "a", indexes: [] };
  const before = JSON.stringify({ indexes: [own], fieldOverrides: [override] }, null, 2);
  const { text } = addIndexes(PATH, before, tally);
  expect(JSON.parse(text).indexes[0]).toEqual(own);
  expect(addIndexes(PATH, text, tally).text).toBe(text);
  expect(removeIndexes(PATH, text, tally)).toBe(before);
});

test("an override of the app for one of Tally's fields stays, and is named", () => {
  const own = {
    collectionGroup: "shards",
    fieldPath: "at",
    indexes: [{ queryScope: "COLLECTION", order: "ASCENDING" }],
  };
  const { text, differing } = addIndexes(PATH, JSON.stringify({ fieldOverrides: [own] }), tally);
  expect(differing).toEqual(["shards.at"]);
  expect(JSON.parse(text).fieldOverrides).toContainEqual(own);
  expect(JSON.parse(removeIndexes(PATH, text, tally)).fieldOverrides).toEqual([own]);
});

test("another collection of the counters has their indexes", () => {
  const { indexes, fieldOverrides } = indexesOf(shipped, "tallies", "standard");
  const groups = [...indexes, ...fieldOverrides].map(({ collectionGroup }) => collectionGroup);
  expect(groups).toContain("tallies");
  expect(groups).not.toContain("counters");
});

test("on Enterprise there are the indexes of the sweep and TTL policies alone", () => {
  const { indexes, fieldOverrides } = indexesOf(shipped, "counters", "enterprise");
  expect(indexes.map(({ fields: [first] }) => first)).toMatchObject([
    { fieldPath: "phase" },
    { fieldPath: "nextReconcileAt" },
  ]);
  expect(fieldOverrides.length).toBeGreaterThan(3);
  for (const { ttl } of fieldOverrides) expect(ttl).toBe(true);
});

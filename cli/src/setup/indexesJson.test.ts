import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { WINDOW_NAMES } from "../../../core/src/index.ts";
import { addIndexes, indexesOf, removeIndexes, staleIndexes } from "./indexesJson.ts";

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

test.each<[parameters: Record<string, string>, edition: "standard" | "enterprise", fields: string[]]>([
  [{ WINDOWS: "", REGIONS: "us=(default), eu=eu" }, "standard", []],
  [{ WINDOWS: "likes", REGIONS: "" }, "standard", ["windows"]],
  [{ WINDOWS: "*", REGIONS: "us=(default), eu=eu" }, "standard", ["windows", "globalWindows"]],
  [{ WINDOWS: "*" }, "enterprise", []],
])("%j on %s have indexes of %j, which go with the choice", (parameters, edition, fields) => {
  const own = indexesOf(shipped, "counters", edition, parameters);
  const of = (all: typeof own) =>
    all.indexes
      .flatMap((index) => index.fields.map((field) => (field as { fieldPath: string }).fieldPath))
      .filter((path) => path.includes("indows."));
  const wanted = fields.flatMap((field) =>
    WINDOW_NAMES.flatMap((window) => [`${field}.${window}.until`, `${field}.${window}.total`]),
  );
  expect(of(own)).toEqual(wanted);
  const { text } = addIndexes(PATH, undefined, own);
  const none = indexesOf(shipped, "counters", edition);
  const left = (knowsWindows: boolean) =>
    of(JSON.parse(removeIndexes(PATH, text, staleIndexes(shipped, ["counters"], none, knowsWindows))));
  expect([left(true), left(false)]).toEqual([[], wanted]);
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

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { addToFirebaseJson, placesIn, removeFromFirebaseJson } from "./firebaseJson.ts";

const parse = (text: string) => JSON.parse(text);
const WANTED = { database: "(default)", edition: "standard" } as const;
const TALLY = { codebase: "tally", source: "tally", runtime: "nodejs24" };

test.each<[was: unknown, now: unknown]>([
  [undefined, [TALLY]],
  [{ source: "functions" }, [{ source: "functions" }, TALLY]],
  [[{ codebase: "a", source: "a" }], [{ codebase: "a", source: "a" }, TALLY]],
  [[{ codebase: "tally", source: "elsewhere" }], [{ codebase: "tally", source: "elsewhere" }]],
])("functions %j become %j", (functions, expected) => {
  expect(parse(addToFirebaseJson(JSON.stringify({ functions }), { ...WANTED, hasCodebase: true })).functions).toEqual(
    expected,
  );
});

test.each<[was: unknown, database: string, now: unknown]>([
  [undefined, "(default)", { rules: "firestore.rules", indexes: "firestore.indexes.json" }],
  [{ rules: "r" }, "(default)", { rules: "r", indexes: "firestore.indexes.json" }],
  [
    [{ database: "(default)", rules: "r", indexes: "i" }],
    "(default)",
    [{ database: "(default)", rules: "r", indexes: "i" }],
  ],
  [
    { rules: "r", indexes: "i" },
    "eu",
    [
      { rules: "r", indexes: "i" },
      { database: "eu", rules: "firestore.rules", indexes: "firestore.indexes.json" },
    ],
  ],
])("firestore %j with the database %s becomes %j", (firestore, database, expected) => {
  expect(
    parse(addToFirebaseJson(JSON.stringify({ firestore }), { ...WANTED, database, hasCodebase: false })).firestore,
  ).toEqual(expected);
});

test("a database that the Firebase CLI will make is of the edition", () => {
  const { firestore } = parse(addToFirebaseJson("{}", { ...WANTED, edition: "enterprise", hasCodebase: true }));
  expect(firestore.edition).toBe("enterprise");
});

test("emulators that are set keep their ports", () => {
  const { emulators } = parse(
    addToFirebaseJson('{ "emulators": { "firestore": { "port": 1 } } }', { ...WANTED, hasCodebase: true }),
  );
  expect(emulators).toMatchObject({ firestore: { port: 1 }, functions: { port: 5001 }, auth: {}, tasks: {} });
});

test("a second time changes nothing, and the codebase is removed again", () => {
  const before = '{\n  "functions": [{ "source": "functions" }]\n}\n';
  const added = addToFirebaseJson(before, { ...WANTED, hasCodebase: true });
  expect(addToFirebaseJson(added, { ...WANTED, hasCodebase: true })).toBe(added);
  expect(placesIn(added, "(default)")).toEqual({
    rules: "firestore.rules",
    indexes: "firestore.indexes.json",
    codebase: "tally",
  });
  expect(parse(removeFromFirebaseJson(added)).functions).toEqual([{ source: "functions" }]);
  expect(removeFromFirebaseJson(before)).toBe(before);
});

test("the functions run on the Node that the tests use; without it the CLI refuses the folder", () => {
  const { functions } = parse(readFileSync("firebase.json", "utf8"));
  expect(TALLY.runtime).toBe([functions].flat()[0].runtime);
});

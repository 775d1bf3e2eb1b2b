import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { addToFirebaseJson, firestoreFilesIn, removeFromFirebaseJson, type Wanted } from "./firebaseJson.ts";

const require = createRequire(import.meta.url);
const { getFirestoreConfig } = require("firebase-tools/lib/firestore/fsConfig.js");

const parse = (text: string) => JSON.parse(text);
const TALLY = {
  codebase: "tally",
  source: "tally",
  runtime: "nodejs24",
  predeploy: ['npm --prefix "$RESOURCE_DIR" install'],
};
const KIT = {
  database: "(default)",
  location: undefined,
  edition: undefined,
  hasFunctions: true,
  codebase: "none" as const,
};

/** What `init` writes. */
function added(before: object, wanted: Partial<Wanted>) {
  const text = JSON.stringify(before);
  const firestoreFiles = firestoreFilesIn(text, wanted.database ?? "(default)");
  return parse(addToFirebaseJson(text, { ...KIT, firestoreFiles, ...wanted }));
}

test.each<[was: unknown, codebase: number | "new", now: unknown]>([
  [undefined, "new", [TALLY]],
  [{ source: "functions" }, "new", [{ source: "functions" }, TALLY]],
  [[{ codebase: "a", source: "a" }], "new", [{ codebase: "a", source: "a" }, TALLY]],
  [[{ source: "a" }, { source: "b" }], 1, [{ source: "a" }, { source: "b", predeploy: TALLY.predeploy }]],
  [{ source: "a", predeploy: "own" }, 0, { source: "a", predeploy: "own" }],
])("functions %j with Tally's at %s become %j", (functions, codebase, expected) => {
  expect(added({ functions }, { codebase }).functions).toEqual(expected);
});

const DEFAULT = { rules: "firestore.rules", indexes: "firestore.indexes.json" };
const EU = { database: "eu", rules: "firestore.eu.rules", indexes: "firestore.eu.indexes.json" };

test.each<[was: unknown, database: string, now: unknown]>([
  [undefined, "(default)", DEFAULT],
  [{ rules: "r" }, "(default)", { ...DEFAULT, rules: "r" }],
  [[{ database: "(default)", ...DEFAULT }], "(default)", [{ database: "(default)", ...DEFAULT }]],
  [undefined, "eu", [EU]],
  [{ database: "eu", rules: "r", indexes: "i" }, "eu", { database: "eu", rules: "r", indexes: "i" }],
  [{ rules: "r", indexes: "i" }, "eu", [{ rules: "r", indexes: "i", database: "(default)" }, EU]],
  // An older `init` has written these two.
  [[DEFAULT, { ...DEFAULT, database: "eu" }], "eu", [{ ...DEFAULT, database: "(default)" }, EU]],
  [[{ target: "main", rules: "r", indexes: "i" }], "eu", [{ target: "main", rules: "r", indexes: "i" }, EU]],
])("firestore %j with the database %s becomes %j", (firestore, database, expected) => {
  const { firestore: now } = added({ firestore }, { database });
  expect(now).toEqual(expected);
  const rc = { requireTarget() {}, target: () => ["(default)"] };
  const deployed = getFirestoreConfig("demo-tally", { config: { src: { firestore: now } }, rc });
  expect(new Set(deployed.map(({ rules }: { rules: string }) => rules)).size).toBe(deployed.length);
});

test("a database that the Firebase CLI will make is at the location, of the edition", () => {
  const wanted = { location: "eur3", edition: "enterprise" } as const;
  expect(added({}, wanted).firestore).toEqual({ ...DEFAULT, ...wanted });
  expect(added({ firestore: { location: "nam5" } }, wanted).firestore).toEqual({ ...DEFAULT, ...wanted });
  expect(added({ firestore: { location: "nam5" } }, {}).firestore).toEqual({ ...DEFAULT, location: "nam5" });
});

test("the Firestore emulator is of the edition, which keeps a port that is set", () => {
  const enterprise = { edition: "enterprise" } as const;
  expect(added({}, enterprise).emulators.firestore).toEqual({ port: 8080, ...enterprise });
  expect(added({ emulators: {} }, enterprise).emulators.firestore).toEqual({ port: 8080, ...enterprise });
  const present = { emulators: { firestore: { port: 1, edition: "standard" } } };
  expect(added(present, enterprise).emulators.firestore).toEqual({ port: 1, ...enterprise });
  expect(added(present, {}).emulators.firestore).toEqual(present.emulators.firestore);
  expect(added({}, {}).emulators.firestore).toEqual({ port: 8080 });
});

test("a file that several databases share is known", () => {
  const firestore = [
    { database: "(default)", rules: "r" },
    { database: "eu", rules: "r" },
  ];
  expect(firestoreFilesIn(JSON.stringify({ firestore }), "(default)").sharedWith).toEqual(["eu"]);
  expect(firestoreFilesIn(JSON.stringify({ firestore }), "eu")).toMatchObject({
    rules: "firestore.eu.rules",
    sharedWith: [],
  });
});

test("emulators that are set keep their ports", () => {
  const { emulators } = added({ emulators: { firestore: { port: 1 } } }, {});
  expect(emulators).toMatchObject({ firestore: { port: 1 }, functions: { port: 5001 }, auth: {}, tasks: {} });
});

test("a second time changes nothing, and the codebase is removed again", () => {
  const before = '{\n  "functions": [{ "source": "functions" }]\n}\n';
  const wanted = {
    ...KIT,
    firestoreFiles: firestoreFilesIn(before, "(default)"),
    location: "nam5",
    edition: "standard",
  } as const;
  const text = addToFirebaseJson(before, { ...wanted, codebase: "new" });
  expect(addToFirebaseJson(text, { ...wanted, codebase: 1 })).toBe(text);
  expect(parse(removeFromFirebaseJson(text, 1)).functions).toEqual([{ source: "functions" }]);
  expect(parse(removeFromFirebaseJson('{ "functions": { "source": "tally" } }', 0))).toEqual({});
});

test("the functions run on the Node that the tests use; without it the CLI refuses the folder", () => {
  const { functions } = parse(readFileSync("firebase.json", "utf8"));
  expect(TALLY.runtime).toBe([functions].flat()[0].runtime);
});

import { expect, test } from "vitest";
import { type ChoiceOptions, choose, parseGroups } from "./choice.ts";
import type { CurrentSettings } from "./currentSettings.ts";
import type { Values } from "./dotenv.ts";

const NEW: CurrentSettings = {
  rules: undefined,
  packaging: undefined,
  hasFunctionsEntry: false,
  database: "(default)",
  collection: "counters",
  edition: "standard",
  location: "us-central1",
  locationSource: "the location in firebase.json",
  values: {},
};
const RULES = {
  open: ["claps"],
  once: [],
  stock: ["seats"],
  visitors: ["claps"],
  functions: [],
  hasFunctions: true,
  limits: true,
  collection: "tallies",
};
const DONE: CurrentSettings = {
  rules: RULES,
  packaging: "codebase",
  hasFunctionsEntry: true,
  database: "eu",
  collection: "tallies",
  edition: "enterprise",
  location: "eur3",
  locationSource: "the location in firebase.json",
  values: {
    LOCATION: "europe-west4",
    COLLECTION: "tallies",
    EVENTS_COLLECTION: "tallies",
    VISITORS: "ingest",
    WINDOWS: "views,likes",
  },
};

const chosen = (options: ChoiceOptions, present: CurrentSettings) => choose(options, false, present);

test("what no option gives has its default", async () => {
  expect(await chosen({}, NEW)).toMatchObject({
    open: ["views"],
    once: ["likes"],
    stock: [],
    visitors: [],
    functions: [],
    limits: false,
    collection: "counters",
    packaging: "codebase",
    database: "(default)",
    edition: "standard",
    // Where a database is, and of which edition, is not known.
    databaseSettings: {},
  });
});

test("a second time nothing changes but what is given, which is added to groups", async () => {
  const choice = await chosen({ once: "votes" }, DONE);
  expect(choice).toMatchObject({
    ...RULES,
    once: ["votes"],
    functions: ["views", "likes"],
    edition: "enterprise",
    database: "eu",
  });
  expect([choice.databaseSettings, choice.changedParameters]).toEqual([{}, {}]);
});

test.each<[option: ChoiceOptions, changed: object, databaseSettings: object]>([
  [{ location: "nam5" }, { LOCATION: "us-central1" }, { location: "nam5" }],
  [{ location: "eur3" }, { LOCATION: "europe-west4" }, { location: "eur3" }],
  [{ edition: "standard" }, { EDITION: "standard" }, { edition: "standard" }],
  [{ collection: "sums" }, { COLLECTION: "sums", EVENTS_COLLECTION: "sums" }, {}],
  [{ visitors: "pages" }, { VISITORS: "ingest" }, {}],
  [{ visitors: "none" }, { VISITORS: "no" }, {}],
  [{ windows: "likes,plays" }, { WINDOWS: "views,likes,plays" }, {}],
  [{ windows: "none", history: "*" }, { WINDOWS: "", HISTORY: "*" }, {}],
])("%j given later sets %j, and in firebase.json %j", async (options, changedParameters, databaseSettings) => {
  expect(await chosen(options, DONE)).toMatchObject({ changedParameters, databaseSettings });
  expect(Object.keys((await chosen(options, DONE)).databaseSettings)).toEqual(Object.keys(databaseSettings));
});

test.each<[present: string[] | "all", values: Values, ChoiceOptions, needed: string[] | "all"]>([
  [["mine"], {}, {}, ["mine"]],
  ["all", {}, { history: "likes" }, "all"],
  [["mine", "views"], { WINDOWS: "views" }, { windows: "likes" }, ["mine", "views", "likes"]],
  [["views", "mine"], { WINDOWS: "views" }, { windows: "none" }, ["mine"]],
  [["views"], { MIRRORS: "likes=posts/{name}.likes" }, {}, ["views", "likes"]],
  ["all", { WINDOWS: "*" }, { windows: "none" }, []],
  [["mine"], { WINDOWS: "*" }, { windows: "none" }, ["mine"]],
  [["mine"], { DIRECT: "no" }, {}, "all"],
])("needsFunctions %j with %j and %j: %j", async (functions, values, options, needed) => {
  const choice = await chosen(options, { ...DONE, rules: { ...RULES, functions }, values });
  expect(choice.functions).toEqual(needed);
});

test("none empties a list", async () => {
  expect(await chosen({ stock: "none", visitors: "none" }, DONE)).toMatchObject({ stock: [], visitors: [] });
});

test("a location that is none is refused, also where a file has it", async () => {
  await expect(chosen({ location: "europe" }, NEW)).rejects.toThrow('--location "europe" is no location');
  await expect(chosen({}, { ...NEW, location: "europe" })).rejects.toThrow(
    'correct the location in firebase.json, or pass --location: "europe" is no',
  );
});

test("a second deployment in another way is refused, with what to do", async () => {
  await expect(chosen({ as: "kit" }, DONE)).rejects.toThrow("firestore-tally remove");
  await expect(chosen({ as: "codebase" }, { ...DONE, packaging: "kit" })).rejects.toThrow("functions:kits:uninstall");
  expect((await chosen({}, { ...DONE, packaging: "kit" })).packaging).toBe("kit");
});

test.each([
  ["none", []],
  ["views", ["views"]],
  [" views, claps,views ", ["views", "claps"]],
])("%j are the groups %j", (list, groups) => {
  expect(parseGroups("open", list)).toEqual(groups);
});

test.each(["", "views:", "a b", "views,,claps", "it's", "a\\", "a/b"])("%j are no groups", (list) => {
  expect(() => parseGroups("open", list)).toThrow("--open ");
});

test("a group counts in one way", async () => {
  await expect(chosen({ open: "likes" }, NEW)).rejects.toThrow("likes is in two of --open, --once and --stock");
  await expect(chosen({ once: "seats", stock: "seats" }, NEW)).rejects.toThrow("seats is in two of");
  await expect(chosen({ open: "seats" }, DONE)).rejects.toThrow("First remove it from its present list: --stock none");
});

/** A second `init` changes the files that its options concern, and no others. */

import { expect, test } from "vitest";
import { WINDOW_NAMES } from "../../../core/src/index.ts";
import { createProject, createTarballs, including, json } from "../../testing/setupProject.ts";

test("a second run takes each option to all files, and leaves the others", async () => {
  const { init, read, edit } = createProject();
  await init({ location: "eur3", open: "views" });
  edit("tally/.env", "EVENTS_COLLECTION=_none", "EVENTS_COLLECTION=counters");
  edit("tally/.env", "TIME_ZONE=UTC", "TIME_ZONE=Asia/Tokyo");
  expect(await init({ visitors: "views" })).toMatchObject({
    paths: ["db/rules", "tally/.env"],
    nextCommand: "npx firebase-tools deploy --only firestore,functions:tally",
  });
  const { notes } = await init({ location: "nam5", edition: "enterprise", collection: "tallies" });
  expect(notes).toEqual(
    including(
      "an existing database cannot move. Check that yours is in nam5",
      "moves the functions from europe-west1 to us-central1",
      "cannot change its edition. Check that yours is enterprise",
      '{ collection: "tallies" }',
    ),
  );
  expect(json(read("firebase.json")).firestore).toMatchObject({ location: "nam5", edition: "enterprise" });
  const indexes = json(read("db/indexes.json"));
  expect(indexes.indexes.map(({ collectionGroup }: { collectionGroup: string }) => collectionGroup)).toEqual([
    "tallies",
    "tallies",
  ]);
  expect(read("db/rules")).toContain("match /tallies/{counter}");
  for (const line of [
    "LOCATION=us-central1",
    "EDITION=enterprise",
    "COLLECTION=tallies",
    "EVENTS_COLLECTION=tallies",
    "VISITORS=yes",
    "TIME_ZONE=Asia/Tokyo",
  ])
    expect(read("tally/.env")).toContain(`\n${line}\n`);
  expect((await init()).paths).toEqual([]);
  await init({ visitors: "none", edition: "standard", collection: "counters" });
  expect(read("tally/.env")).toContain("\nVISITORS=no\n");
  expect(read("db/indexes.json")).not.toContain("tallies");
});

test("a second run adds the functions to a project that had none: they are to be deployed before the rules", async () => {
  const [later, atOnce] = [createProject(), createProject()];
  await later.init({ withoutFunctions: true, open: "claps", leaderboards: true });
  const { notes, nextCommand } = await later.init({ windows: "claps" });
  expect(notes).toEqual(expect.arrayContaining(including("deploy the functions first, then the rules")));
  expect(nextCommand).toBe(
    "npm install && npm install --prefix tally && npx firebase-tools deploy --only functions:tally && npx firebase-tools deploy --only firestore",
  );
  await atOnce.init({ open: "claps", windows: "claps" });
  const [made, expected] = [later.files(), atOnce.files()].map((files) => ({
    ...files,
    "firebase.json": json(files["firebase.json"] as string),
  }));
  expect(made).toEqual(expected);
});

test("a second run leaves no tarball that nothing uses, and no emulator that nothing needs", async () => {
  const { packages } = createTarballs();
  const { init, files, read } = createProject();
  const client = () => json(read("package.json")).dependencies["firestore-tally"];
  const tarballs = () => Object.keys(files()).filter((path) => path.endsWith(".tgz"));
  const withoutFunctions = { packages, withoutFunctions: true };
  await init(withoutFunctions);
  expect((await init(withoutFunctions)).paths).toEqual([]);
  expect([client(), tarballs()]).toEqual(["file:firestore-tally-0.1.0.tgz", ["firestore-tally-0.1.0.tgz"]]);
  expect(Object.keys(json(read("firebase.json")).emulators)).toEqual(["auth", "firestore"]);
  await init({ packages });
  expect(client()).toBe("file:tally/firestore-tally-0.1.0.tgz");
  expect(tarballs()).toEqual(["tally/firestore-tally-0.1.0.tgz", "tally/firestore-tally-kit-0.1.0.tgz"]);
  // The app's package is in another folder.
  const noApp = createProject({ "firebase.json": '{ "emulators": {} }' });
  expect((await noApp.init(withoutFunctions)).paths).toEqual(["firebase.json", "firestore.rules"]);
  expect(Object.keys(json(noApp.read("firebase.json")).emulators)).toEqual(["auth", "firestore"]);
});

test("windows have indexes as long as the parameters choose them", async () => {
  const { init, upgrade, read, edit } = createProject();
  const indexes = () => read("db/indexes.json").match(/[a-zA-Z]*indows\.\w+\.until/g)?.length ?? 0;
  await init({ windows: "views", history: "*" });
  expect(read("tally/.env").match(/^(WINDOWS|HISTORY)=.*$/gm)).toEqual(["WINDOWS=views", "HISTORY=*"]);
  expect(indexes()).toBe(WINDOW_NAMES.length);
  edit("tally/.env", "REGIONS=", "REGIONS=us=(default), eu=eu");
  await upgrade();
  expect(indexes()).toBe(2 * WINDOW_NAMES.length);
  expect((await init()).paths).toEqual([]);
  await init({ windows: "none" });
  expect(indexes()).toBe(0);
});

test("a second run tells what edits by hand contradict", async () => {
  const { init, edit, write } = createProject();
  await init({ location: "eur3", edition: "standard", visitors: "views" });
  edit("firebase.json", '"standard"', '"enterprise"');
  for (const [from, to] of [
    ["LOCATION=europe-west1", "LOCATION=us-east1"],
    ["VISITORS=yes", "VISITORS=no"],
    ["\nCOLLECTION=counters", "\nCOLLECTION=sums"],
  ] as const)
    edit("tally/.env", from, to);
  const found = including(
    "tally/.env runs the functions in us-east1, far from the database in eur3",
    "EDITION=standard",
    "COLLECTION=sums",
    "VISITORS=no",
  );
  expect(await init()).toMatchObject({ paths: [], notes: found });
  write("tally/.env.prod", "LOCATION=us-east1\n");
  const given = { location: "eur3", edition: "standard", collection: "counters", visitors: "views" } as const;
  expect((await init(given)).notes).toEqual(
    expect.arrayContaining(including("tally/.env.prod overrides tally/.env with LOCATION=us-east1")),
  );
  expect(await init()).toMatchObject({ paths: [], notes: [] });
});

test("a second run in another database is refused, unless the functions are of no or that database", async () => {
  const { init, edit, files } = createProject();
  await init();
  const before = files();
  await expect(init({ database: "eu" })).rejects.toThrow("count in the database (default)");
  await expect(init({ database: "../eu" })).rejects.toThrow("no id of a database");
  expect(files()).toEqual(before);
  edit("tally/.env", "(default)", "eu");
  expect((await init()).paths).toContain("firestore.eu.rules");
});

/** `init` on the files of a new project; `test/packaging/setup.test.ts` runs what it makes. */
import { chmodSync, lstatSync, mkdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { runCommand } from "../../testing/runCommand.ts";
import { APP, createProject, createTarballs, including, json } from "../../testing/setupProject.ts";

const CODEBASE = ["tally/.env", "tally/index.js", "tally/package.json"];

test("init adds Tally, a second init and an upgrade change nothing, and remove leaves what the app had", async () => {
  const { init, upgrade, remove, files, read, at } = createProject();
  const before = files();
  const { paths, nextCommand, notes } = await init();
  expect(paths).toEqual(["counters.js", "db/indexes.json", "db/rules", "firebase.json", "package.json", ...CODEBASE]);
  expect(nextCommand).toBe(
    "npm install && npm install --prefix tally && npx firebase-tools emulators:start --project demo-app",
  );
  expect(notes).toEqual(
    including(
      "git add --force tally/.env",
      "counters.js has your first calls: call countView(page)",
      "connect your page to the emulators",
    ),
  );
  expect(read("db/rules")).toContain("/databases/$(db)/documents/counters/$(counter)");
  expect(json(read("package.json")).dependencies).toEqual({ firebase: "^12.0.0", "firestore-tally": "^0.1.0" });

  expect(await init()).toMatchObject({
    paths: [],
    notes: [],
    nextCommand: "npx firebase-tools deploy --only firestore,functions:tally",
  });
  expect(await upgrade()).toMatchObject({
    paths: [],
    notes: [],
    clientChanges: "Deployed clients of 0.1.0 keep working unchanged.",
  });

  mkdirSync(at("tally/node_modules/firestore-tally-kit"), { recursive: true });
  await remove();
  const { "counters.js": _, "db/indexes.json": indexes, "firebase.json": firebase, ...left } = files();
  const { "firebase.json": __, ...had } = before;
  expect(left).toEqual(had);
  expect(json(indexes as string)).toEqual({ indexes: [], fieldOverrides: [] });
  expect(json(firebase as string).functions).toBeUndefined();
});

test("without functions: rules, the client, and the index of leaderboards if it is asked for; upgrade and remove leave it so", async () => {
  const { init, upgrade, remove, files, read } = createProject();
  const before = files();
  const first = await init({ withoutFunctions: true });
  expect(first.paths).toEqual(["counters.js", "db/rules", "firebase.json", "package.json"]);
  expect(first.nextCommand).toBe("npm install && npx firebase-tools deploy --only firestore");
  expect(read("db/rules")).toMatch(/function hasFunctions\(\) \{\s+return false;/);
  expect(Object.keys(json(read("firebase.json")).emulators)).toEqual(["auth", "firestore"]);
  expect((await init({ withoutFunctions: true, open: "claps", leaderboards: true })).paths).toEqual([
    "db/indexes.json",
    "db/rules",
  ]);
  expect(json(read("db/indexes.json"))).toMatchObject({
    indexes: [{ fields: [{ fieldPath: "group" }, { fieldPath: "total" }] }],
  });
  expect(await upgrade()).toMatchObject({
    paths: [],
    notes: [],
    nextCommand: "npx firebase-tools deploy --only firestore",
  });
  expect((await init({ withoutFunctions: true })).paths).toEqual([]);
  await remove();
  const { "counters.js": _, "db/indexes.json": __, "firebase.json": ___, ...left } = files();
  expect(before).toMatchObject(left);

  const bare = createProject({ "package.json": APP["package.json"] as string });
  await bare.init({ withoutFunctions: true, packages: createTarballs().packages });
  expect(json(bare.read("firebase.json")).firestore).toEqual({ rules: "firestore.rules" });
  expect(json(bare.read("package.json")).dependencies["firestore-tally"]).toBe("file:firestore-tally-0.1.0.tgz");
  expect(bare.files()["firestore-tally-0.1.0.tgz"]).toBeDefined();
});

test("without functions, what needs them is refused, as are servers and projects that have them", async () => {
  const withoutFunctions = true;
  const { init, files } = createProject();
  const before = files();
  for (const option of ["stock", "visitors", "windows", "history"])
    await expect(init({ withoutFunctions, [option]: "views" })).rejects.toThrow(
      `--${option} views needs the functions`,
    );
  await expect(init({ withoutFunctions, as: "kit" })).rejects.toThrow("--as kit is about the functions");
  expect(files()).toEqual(before);
  await init();
  await expect(init({ withoutFunctions })).rejects.toThrow("this project has Tally's functions");
  const server = createProject({ "package.json": '{ "dependencies": { "firebase-admin": "^14.0.0" } }' });
  await expect(server.init({ withoutFunctions })).rejects.toThrow("servers count on shards");
});

test("a codebase of the app's own that exports the kit's functions gets parameters, and nothing else", async () => {
  const own = {
    "functions/package.json": '{ "main": "lib/index.js", "dependencies": { "firestore-tally-kit": "^0.1.0" } }',
    "firebase.json": '{ "functions": { "source": "functions", "runtime": "nodejs22" } }',
  };
  const { init, upgrade, files } = createProject({ ...APP, ...own });
  await init();
  expect((await upgrade()).paths).toEqual([]);
  expect(json(files()["firebase.json"] as string).functions).toEqual(json(own["firebase.json"]).functions);
  const inFolder = Object.keys(files()).filter((path) => /^(functions|tally)/.test(path));
  expect(inFolder).toEqual(["functions/.env", "functions/package.json"]);
  expect(files()["functions/package.json"]).toBe(own["functions/package.json"]);
});

test("a named database has files of its own, and those of the default one stay", async () => {
  const { init, upgrade, remove, read } = createProject();
  const { notes } = await init({ database: "eu", location: "eur3" });
  expect(notes).toEqual(
    expect.arrayContaining(including("firestore:databases:create eu --location eur3", "firestore.eu.rules")),
  );
  expect(read("db/rules")).toBe(APP["db/rules"]);
  expect(json(read("firebase.json")).firestore).toEqual([
    { rules: "db/rules", indexes: "db/indexes.json", database: "(default)" },
    {
      database: "eu",
      rules: "firestore.eu.rules",
      indexes: "firestore.eu.indexes.json",
      location: "eur3",
    },
  ]);
  expect(read("counters.js")).toBeDefined();
  expect((await init({ open: "claps" })).paths).toEqual(["firestore.eu.rules"]);
  expect((await upgrade()).paths).toEqual([]);
  expect((await remove()).nextCommand).toContain("deploy --only firestore:eu");
  expect(read("firestore.eu.rules")).toContain("allow read, write: if false;");
  expect((await remove("eu")).nextCommand).toBeUndefined();
  expect((await init({ database: "eu" })).notes.filter((note) => note.startsWith("firestore.eu.rules"))).toEqual([]);
});

test("a file that two databases shared is copied, with the app's rules, for the named one", async () => {
  const shared = { rules: "db/rules", indexes: "db/indexes.json" };
  const firestore = [
    { database: "(default)", ...shared },
    { database: "eu", ...shared },
  ];
  const { init, read } = createProject({ ...APP, "firebase.json": JSON.stringify({ firestore }) });
  await init({ database: "eu" });
  expect(read("firestore.eu.rules")).toContain("match /posts/{post}");
  expect(read("db/rules")).toBe(APP["db/rules"]);
});

test("of a kit, the functions are left to the Firebase CLI, which is told what to answer", async () => {
  const { init, remove, edit, write, read } = createProject();
  const { paths, notes, nextCommand } = await init({ as: "kit", location: "eur3", collection: "tallies" });
  expect(paths).toEqual(["counters.js", "db/indexes.json", "db/rules", "firebase.json", "package.json"]);
  expect(nextCommand).toBe("npm install && npx firebase-tools functions:kits:install --package firestore-tally-kit");
  expect(notes).toEqual(
    expect.arrayContaining(
      including("FUNCTION_DEFAULT_REGION=europe-west1, LOCATION=europe-west1, COLLECTION=tallies"),
    ),
  );
  const kit = {
    kit: "counting",
    sourcePackage: { name: "firestore-tally-kit" },
    source: "kits/source",
    instances: { main: "kits/main" },
  };
  edit("firebase.json", '"emulators"', `"functions": [${JSON.stringify(kit)}], "emulators"`);
  write("kits/main/.env.demo-app", "DATABASE_ID=(default)\nLOCATION=europe-west1\nCOLLECTION=tallies\nVISITORS=no\n");
  expect((await init({ visitors: "views", location: "nam5" })).paths).toEqual([
    "db/rules",
    "firebase.json",
    "kits/main/.env.demo-app",
  ]);
  expect(read("kits/main/.env.demo-app")).toBe(
    "DATABASE_ID=(default)\nLOCATION=us-central1\nCOLLECTION=tallies\nVISITORS=yes\n",
  );
  expect((await remove()).notes).toEqual(expect.arrayContaining(including("functions:kits:uninstall --instance main")));
});

test("an app below the project's folder is found, with its tarball", async () => {
  const { packages } = createTarballs();
  const app = {
    ...APP,
    "web/package.json": APP["package.json"] as string,
    "web/pnpm-lock.yaml": "",
    "package.json": "{}",
  };
  const { init, read, remove } = createProject(app, "web/src");
  const { paths, nextCommand } = await init({ packages });
  expect(paths).toEqual(expect.arrayContaining(["db/rules", "web/package.json", "web/src/counters.js"]));
  expect(nextCommand).toMatch(/^pnpm --dir web install && npm install --prefix tally/);
  expect(json(read("web/package.json")).dependencies["firestore-tally"]).toBe(
    "file:../tally/firestore-tally-0.1.0.tgz",
  );
  expect(read("package.json")).toBe("{}");
  expect((await remove()).paths).toContain("web/package.json");
});

test("the search for firebase.json ends at the repository's folder", async () => {
  const { init, at } = createProject({ ...APP, "sub/package.json": "{}" }, "sub");
  mkdirSync(at("sub/.git"));
  expect((await init()).paths).toContain("firestore.rules");
});

test("an app without rules, or with missing or old packages, is told before anything is written", async () => {
  const { init } = createProject({ "package.json": '{ "dependencies": { "react": "^17.0.0" } }', "yarn.lock": "" });
  expect((await init()).notes).toEqual(
    expect.arrayContaining(
      including(
        "depends neither on firebase nor on firebase-admin: yarn add firebase",
        "react >=18.0.0 (^17.0.0 is here): yarn add react@latest",
        "firebase.json will be created in ",
        "For a new project that is right.",
      ),
    ),
  );
  const installed = { "node_modules/firebase/package.json": '{ "version": "9.23.0" }' };
  for (const [version, files, isTold] of [
    ["^9.0.0", {}, true],
    [">=9", {}, false],
    [">=9", installed, true],
    ["workspace:*", {}, false],
    ["latest", {}, false],
  ] as const) {
    const app = createProject({
      ...APP,
      ...files,
      "package.json": JSON.stringify({ dependencies: { firebase: version } }),
    });
    expect(
      (await app.init()).notes.some((note) => note.includes("firebase >=10.9.0")),
      version,
    ).toBe(isTold);
  }
});

test("what cannot be read is refused, and nothing changes", async () => {
  const { init, write, files } = createProject();
  const refused = async (path: string, text: string, message: string) => {
    write(path, text);
    await expect(init()).rejects.toThrow(message);
    write(path, APP[path] ?? "{}");
  };
  const before = files();
  await refused("db/rules", "rules_version = '2';\nservice cloud.firestore {\n", "db/rules: ");
  await refused("db/indexes.json", "[", "db/indexes.json is no JSON object");
  await refused("firebase.json", "{", "firebase.json is no JSON object");
  expect(files()).toEqual({ ...before, "db/indexes.json": "{}" });
  await expect(init({ packages: "/nowhere" })).rejects.toThrow("/nowhere/firestore-tally-kit-0.1.0.tgz");
  await expect(createProject({}).init()).rejects.toThrow("neither firebase.json nor package.json");
});

test("a dry run shows the files or the lines that would change, and changes none", async () => {
  const { at, files } = createProject();
  const before = files();
  vi.spyOn(process, "cwd").mockReturnValue(at(""));
  onTestFinished(() => void vi.restoreAllMocks());
  expect((await runCommand("init", "--dry-run")).stdout).toMatch(/^change db\/rules: \+\d+ -0 lines$/m);
  expect((await runCommand("init", "--dry-run", "--diff")).stdout).toContain("+    // <tally ");
  expect(files()).toEqual(before);
});

test("a linked file stays a link, and its mode stays", async () => {
  const { init, at, write, read } = createProject();
  write("shared/rules", APP["db/rules"] as string);
  rmSync(at("db/rules"));
  symlinkSync("../shared/rules", at("db/rules"));
  chmodSync(at("shared/rules"), 0o640);
  await init();
  expect(lstatSync(at("db/rules")).isSymbolicLink()).toBe(true);
  expect(read("shared/rules")).toContain("<tally ");
  expect(statSync(at("shared/rules")).mode & 0o777).toBe(0o640);
});

/** `init`, `upgrade` and `remove` on the files of a project; `test/packaging/setup.test.ts` runs what they make. */
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { APP, createProject } from "../../testing/setupProject.ts";

const CODEBASE = ["tally/.env", "tally/index.js", "tally/package.json"];
const json = (text: string) => JSON.parse(text);
const including = (...parts: string[]) => parts.map((part) => expect.stringContaining(part));

/** A folder with both tarballs. */
function tarballs() {
  const { at, write } = createProject({});
  for (const name of ["firestore-tally", "firestore-tally-kit"])
    writeFileSync(at(`${name}-0.1.0.tgz`), gzipSync(`the package ${name}`));
  return { packages: at(""), write };
}

test("init adds Tally, a second init and an upgrade change nothing, and remove leaves what the app had", async () => {
  const { init, upgrade, remove, files, read, at } = createProject();
  const before = files();
  const { paths, nextCommand, notes } = await init();
  expect(paths).toEqual(["counters.js", "db/indexes.json", "db/rules", "firebase.json", "package.json", ...CODEBASE]);
  expect(nextCommand).toBe(
    "npm install && npm install --prefix tally && npx firebase-tools emulators:start --project demo-app",
  );
  expect(notes).toEqual(
    including("git add --force tally/.env", "counters.js has your first calls: call countView(page)"),
  );
  expect(read("db/rules")).toContain("/databases/$(db)/documents/counters/$(counter)");
  expect(json(read("package.json")).dependencies).toEqual({ firebase: "^12.0.0", "firestore-tally": "^0.1.0" });

  expect(await init()).toMatchObject({ paths: [], notes: [], nextCommand: "npx firebase-tools deploy" });
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

describe("what is Tally's", () => {
  const OTHERS = { "tally/package.json": '{ "name": "bets" }\n', "tally/index.js": "exports.bet = 1;\n" };

  test("is known by content: a codebase or a folder of the same name stays, whatever is run", async () => {
    const functions = { codebase: "tally", source: "tally", runtime: "nodejs22" };
    for (const others of [
      { ...OTHERS, "firebase.json": JSON.stringify({ functions }) },
      { ...OTHERS, "firebase.json": JSON.stringify({ functions: [functions, { codebase: "x", source: "x" }] }) },
      { "tally/index.js": OTHERS["tally/index.js"], "firebase.json": "{}" },
      { "bets/index.js": "", "firebase.json": JSON.stringify({ functions: { ...functions, source: "bets" } }) },
    ]) {
      const { init, remove, files } = createProject({ ...APP, ...others });
      const before = files();
      await expect(init()).rejects.toThrow(/not Tally's.*--as kit/s);
      expect(files()).toEqual(before);
      await init({ as: "kit" });
      expect(files()).toMatchObject(
        others["firebase.json"] === "{}"
          ? { "tally/index.js": expect.anything() }
          : { ...others, "firebase.json": expect.anything() },
      );
      expect((await remove()).notes).toEqual(expect.arrayContaining(including("no codebase of Tally")));
      for (const [path, text] of Object.entries(others)) if (path !== "firebase.json") expect(files()[path]).toBe(text);
      expect(json(files()["firebase.json"] as string).functions).toEqual(json(others["firebase.json"]).functions);
    }
  });

  test("is found under another name, and with functions of the app's own it stays whole", async () => {
    const { init, remove, upgrade, edit, at, write, files } = createProject();
    await init();
    renameSync(at("tally"), at("counting"));
    edit("firebase.json", '"codebase": "tally"', '"codebase": "counts"');
    edit("firebase.json", '"source": "tally"', '"source": "./counting"');
    expect((await init()).paths).toEqual([]);
    expect((await upgrade()).paths).toEqual([]);
    mkdirSync(at("counting/node_modules/firestore-tally-kit"), { recursive: true });
    const whole = files();
    for (const [path, from, to] of [
      ["index.js", /$/, "export const own = 1;\n"],
      ["package.json", '"firebase-admin"', '"left-pad": "^1.0.0", "firebase-admin"'],
      [".env", /$/, "OWN=1\n"],
    ] as const) {
      edit(`counting/${path}`, from, to);
      const { notes } = await remove();
      expect(notes).toEqual(
        expect.arrayContaining(including(`counting/ stays, because it has more than Tally's files: ${path}`)),
      );
      expect(files()).toMatchObject({
        "counting/node_modules/firestore-tally-kit/": "",
        "firebase.json": whole["firebase.json"],
      });
      write(`counting/${path}`, whole[`counting/${path}`] as string);
    }
    await remove();
    expect(Object.keys(files()).filter((path) => path.startsWith("counting"))).toEqual([]);
    expect(json(files()["firebase.json"] as string).functions).toBeUndefined();
  });
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

describe("a damaged codebase", () => {
  test.each<["init" | "upgrade"]>([["init"], ["upgrade"]])(
    "is repaired by %s, whatever is missing or cut",
    async (command) => {
      const { packages } = tarballs();
      const project = createProject();
      await project.init({ packages, location: "eur3", visitors: "views", collection: "tallies" });
      const whole = project.files();
      const paths = Object.keys(whole).filter((path) => path.startsWith("tally/"));
      for (const path of paths) {
        const text = whole[path] as string;
        for (const damage of [
          () => rmSync(project.at(path)),
          () => writeFileSync(project.at(path), text.slice(0, text.length / 2), "latin1"),
        ]) {
          damage();
          await project[command](path.endsWith(".tgz") ? { packages } : {});
          expect(project.files(), path).toEqual(whole);
        }
      }
      rmSync(project.at("tally"), { recursive: true });
      await project[command]({ packages });
      expect(project.files()).toEqual(whole);
    },
  );

  test("a tarball that is missing or cut is told, as is one that an upgrade keeps", async () => {
    const { packages } = tarballs();
    const { init, upgrade, at, read } = createProject();
    await init({ packages });
    const client = read("package.json");
    expect((await upgrade()).notes).toEqual(including("still depends on firestore-tally-kit-0.1.0.tgz"));
    expect(read("tally/package.json")).toContain('"file:firestore-tally-kit-0.1.0.tgz"');
    expect(read("package.json")).toBe(client);
    writeFileSync(at("tally/firestore-tally-kit-0.1.0.tgz"), gzipSync("the package").subarray(0, 12));
    for (const command of [init, upgrade]) expect((await command({})).notes).toEqual(including("missing or damaged"));
  });
});

describe("a second run", () => {
  test("takes each option to all files, and leaves the others", async () => {
    const { init, read, edit } = createProject();
    await init({ location: "eur3", open: "views" });
    edit("tally/.env", "EVENTS_COLLECTION=_none", "EVENTS_COLLECTION=counters");
    edit("tally/.env", "TIME_ZONE=UTC", "TIME_ZONE=Asia/Tokyo");
    expect(await init({ visitors: "views" })).toMatchObject({
      paths: ["db/rules", "tally/.env"],
      nextCommand: "npx firebase-tools deploy --only firestore:rules,functions:tally",
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

  test("tells what edits by hand contradict", async () => {
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

  test("in another database is refused, unless the functions are of no or that database", async () => {
    const { init, edit, files } = createProject();
    await init();
    const before = files();
    await expect(init({ database: "eu" })).rejects.toThrow("count in the database (default)");
    await expect(init({ database: "../eu" })).rejects.toThrow("no id of a database");
    expect(files()).toEqual(before);
    edit("tally/.env", "(default)", "eu");
    expect((await init()).paths).toContain("firestore.eu.rules");
  });
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
  const { packages } = tarballs();
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
        "The next deployment replaces the rules in the console",
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

test("an upgrade wants markers, keeps the policy, and says what it adds", async () => {
  const { init, upgrade, read, edit } = createProject();
  await expect(upgrade()).rejects.toThrow("db/rules: ");
  await init({ open: "views,claps" });
  edit("db/rules", "return by == 1;", "return by <= 3;");
  edit("tally/.env", /^MIRRORS=.*\n/m, "GONE=1\n");
  edit("tally/package.json", "^0.1.0", "^0.0.9");
  edit("db/indexes.json", /,\s*\{ "collectionGroup": "tallyKeys", "fieldPath": "tat".*\}/, "");
  edit("firebase.json", /,\s*"predeploy": \[.*\]/, "");
  const { paths, notes, nextCommand } = await upgrade();
  expect(paths).toEqual(["db/indexes.json", "firebase.json", "tally/.env", "tally/package.json"]);
  expect(nextCommand).toBe(
    "npm install --prefix tally && npx firebase-tools deploy --only firestore:indexes,functions:tally",
  );
  expect(read("db/rules")).toContain("return by <= 3;");
  expect(read("tally/package.json")).toContain("^0.1.0");
  expect(json(read("firebase.json")).functions[0].predeploy).toEqual(['npm --prefix "$RESOURCE_DIR" install']);
  expect(notes).toEqual(
    including("tally/.env has new parameters: MIRRORS", "sets GONE, which 0.1.0 does not have: remove it"),
  );
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

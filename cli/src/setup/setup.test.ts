/** `init`, `upgrade` and `remove` on the files of a project; `test/packaging/setup.test.ts` runs what they make. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeChanges, realChanges } from "./changes.ts";
import { choose } from "./choice.ts";
import { planInit } from "./init.ts";
import { readProject } from "./project.ts";
import { planRemove } from "./remove.ts";
import type { Plan } from "./setup.ts";
import { planUpgrade } from "./upgrade.ts";

const APP = {
  "firebase.json": '{\n  "firestore": { "rules": "db/rules", "indexes": "db/indexes.json" }\n}\n',
  "db/rules":
    "rules_version = '2';\nservice cloud.firestore {\n  match /databases/{db}/documents {\n    match /posts/{post} {\n      allow read;\n    }\n  }\n}\n",
  "package.json": '{ "name": "app", "dependencies": { "firebase": "^12.0.0" } }\n',
  ".gitignore": "node_modules/\n.env\n",
};

function createProject(files: Readonly<Record<string, string>> = APP) {
  const folder = mkdtempSync(join(tmpdir(), "tally-setup-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const project = () => readProject(folder, "(default)");
  return {
    project,
    write: (path: string, text: string) => writeFileSync(join(folder, path), text),
    /** Makes the changes of a plan. @returns the paths of the files */
    make({ changes }: Plan): string[] {
      const real = realChanges(changes);
      makeChanges(folder, real);
      return real.map(({ path }) => path).toSorted();
    },
    files() {
      const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const paths = entries.map(({ parentPath, name }) => join(parentPath, name));
      return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, "utf8")]));
    },
  };
}

test("init adds Tally, a second init and an upgrade change nothing, and remove leaves what the app had", async () => {
  const { project, make, files } = createProject();
  const before = files();
  const plan = planInit(project(), await choose({}, false));
  expect(make(plan)).toEqual([
    ...["counters.js", "db/indexes.json", "db/rules", "firebase.json", "package.json"],
    ...["tally/.env", "tally/index.js", "tally/package.json"],
  ]);
  expect(plan.next).toBe(
    "npm install && npm install --prefix tally && npx firebase-tools emulators:start --project demo-app",
  );
  expect(plan.notes).toEqual([
    expect.stringContaining("counters.js has your first calls: call countView(page)"),
    expect.stringContaining("git add --force tally/.env"),
  ]);
  expect(files()["db/rules"]).toContain("/databases/$(db)/documents/counters/$(counter)");
  expect(JSON.parse(files()["package.json"] as string).dependencies).toEqual({
    firebase: "^12.0.0",
    "firestore-tally": "^0.1.0",
  });

  expect(make(planInit(project(), await choose({}, false)))).toEqual([]);
  expect(make(planUpgrade(project()))).toEqual([]);

  make(planRemove(project()));
  const left = files();
  for (const path of ["db/rules", "package.json", ".gitignore"])
    expect(left[path], path).toBe(before[path as keyof typeof APP]);
  expect(JSON.parse(left["db/indexes.json"] as string)).toEqual({ indexes: [], fieldOverrides: [] });
  expect(JSON.parse(left["firebase.json"] as string).functions).toBeUndefined();
  expect(Object.keys(left).filter((path) => path.startsWith("tally/"))).toEqual([]);
});

test("an empty folder becomes a project, and is told that it was none", async () => {
  const { project, make, files } = createProject({});
  const plan = planInit(project(), await choose({ visitors: "views" }, false));
  expect(make(plan)).toEqual([
    ...["firebase.json", "firestore.indexes.json", "firestore.rules"],
    ...["tally/.env", "tally/index.js", "tally/package.json"],
  ]);
  expect(plan.notes).toEqual([expect.stringContaining("there was no firebase.json here")]);
  expect(files()["tally/.env"]).toContain("VISITORS=yes\n");
});

test("of a kit, the functions are left to the Firebase CLI", async () => {
  const { project, make } = createProject();
  const plan = planInit(project(), await choose({ as: "kit" }, false));
  expect(make(plan)).toEqual(["counters.js", "db/indexes.json", "db/rules", "firebase.json", "package.json"]);
  expect(plan.next).toBe("npm install && npx firebase-tools functions:kits:install --package firestore-tally-kit");
});

test("what cannot be read or would be overwritten is refused, and nothing changes", async () => {
  const { project, write, files } = createProject();
  const choice = await choose({}, false);
  write("db/rules", "rules_version = '2';\nservice cloud.firestore {\n");
  expect(() => planInit(project(), choice)).toThrow("db/rules: ");
  write("db/rules", APP["db/rules"]);
  write("db/indexes.json", "[");
  expect(() => planInit(project(), choice)).toThrow("db/indexes.json is no JSON object");
  write("db/indexes.json", "{}");
  write("firebase.json", "{");
  expect(() => project()).toThrow("firebase.json is no JSON object");
  expect(Object.keys(files())).not.toContain("tally/.env");
  const taken = createProject({ ...APP, "tally/package.json": "{}" });
  expect(() => planInit(taken.project(), choice)).toThrow("rename its folder");
  expect(() => planInit(createProject().project(), choice, "/nowhere")).toThrow(
    "--packages: /nowhere/firestore-tally-kit-0.1.0.tgz",
  );
});

test("an upgrade wants markers, keeps the policy, and says what it adds", async () => {
  const { project, make, write, files } = createProject();
  expect(() => planUpgrade(project())).toThrow("db/rules: ");
  make(planInit(project(), await choose({ open: "views,claps" }, false)));
  const edit = (path: string, from: string | RegExp, to: string) =>
    write(path, (files()[path] as string).replace(from, to));
  edit("db/rules", "return by == 1;", "return by <= 3;");
  edit("tally/.env", /^MIRRORS=.*\n/m, "GONE=1\n");
  edit("tally/package.json", "^0.1.0", "^0.0.9");
  const plan = planUpgrade(project());
  expect(make(plan)).toEqual(["tally/.env", "tally/package.json"]);
  expect(files()["db/rules"]).toContain("return by <= 3;");
  expect(files()["tally/package.json"]).toContain("^0.1.0");
  expect(plan.first).toBe("Clients of 0.1.0 go on as before.");
  expect(plan.notes).toEqual([
    "tally/.env has new parameters, with their defaults: MIRRORS",
    "tally/.env sets what is no parameter of 0.1.0: GONE",
  ]);
});

test("on Enterprise the parameters say so, and no index is added but those of the sweep, also later", async () => {
  const { project, make, files } = createProject();
  make(planInit(project(), await choose({ edition: "enterprise" }, false)));
  expect(files()["tally/.env"]).toContain("EDITION=enterprise\n");
  expect(JSON.parse(files()["db/indexes.json"] as string).indexes).toHaveLength(2);
  expect(make(planUpgrade(project()))).toEqual([]);
});

test("remove takes out the indexes of another collection, too", async () => {
  const { project, make, files } = createProject();
  make(planInit(project(), await choose({ collection: "tallies" }, false)));
  expect(files()["db/indexes.json"]).toContain('"tallies"');
  make(planRemove(project()));
  expect(JSON.parse(files()["db/indexes.json"] as string)).toEqual({ indexes: [], fieldOverrides: [] });
});

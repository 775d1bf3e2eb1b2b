/** `upgrade` on projects of an older version, and repairs by `init` and `upgrade`. */
import { rmSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createProject, createTarballs, including, json } from "../../testing/setupProject.ts";

describe("a damaged codebase", () => {
  test.each<["init" | "upgrade"]>([["init"], ["upgrade"]])(
    "is repaired by %s, whatever is missing or cut",
    async (command) => {
      const { packages } = createTarballs();
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
    const { packages } = createTarballs();
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

test("neither init nor upgrade drops what the developer has added, though the file has no final newline or is no JSON", async () => {
  const { init, upgrade, edit, read, files } = createProject();
  await init();
  edit("tally/.env", /MIRRORS=.*\n([\s\S]*)\n$/, "$1\n# mine\nSTRIPE_KEY=a");
  for (const command of [init, upgrade]) {
    await command({});
    expect(read("tally/.env")).toMatch(/# mine\nSTRIPE_KEY=a\n[\s\S]*\nMIRRORS=\n/);
  }
  edit("tally/package.json", "}\n}", '},\n  "engines": { "node": "24" },\n}');
  const before = files();
  for (const command of [init, upgrade]) {
    const outcome = await command({}).then(
      () => "done",
      ({ message }) => message,
    );
    expect(outcome === "done" || /not Tally's|no JSON/.test(outcome)).toBe(true);
    expect(files()["tally/package.json"]).toBe(before["tally/package.json"]);
  }
});

test("an upgrade of functions that take events says what goes first, and what a group means", async () => {
  const { init, upgrade, edit } = createProject();
  await init();
  const older = async (counters: string) => {
    edit("tally/.env", /^INGEST_COUNTERS=.*$/m, `INGEST_COUNTERS=${counters}`);
    edit("tally/package.json", /\^0\.[\d.]+/, "^0.0.9");
    return (await upgrade()).notes;
  };
  const order = "deploy the functions before pages with a new beacon";
  expect(await older("/views:[a-z]{1,3}:*/, posts:*")).toEqual(including(order, "posts:* in INGEST_COUNTERS"));
  expect(await older("/views:[a-z]{1,3}:*/, downloads")).toEqual(including(order));
  expect((await upgrade()).notes).toEqual([]);
});

test("an upgrade wants markers, keeps the policy, and says what it adds", async () => {
  const { init, upgrade, read, edit } = createProject();
  await expect(upgrade()).rejects.toThrow("db/rules: ");
  await init({ open: "views,claps" });
  edit("db/rules", "return by == 1;", "return by <= 3;");
  edit("db/rules", /function needsFunctions\(\) \{[^}]*\}\n/, "");
  edit("tally/.env", /^MIRRORS=.*\n/m, "GONE=1\n");
  edit("tally/.env", "HISTORY=\n", "HISTORY=claps\n");
  edit("tally/package.json", "^0.1.0", "^0.0.9");
  edit("db/indexes.json", /,\s*\{ "collectionGroup": "tallyKeys", "fieldPath": "tat".*\}/, "");
  edit("firebase.json", /,\s*"predeploy": \[.*\]/, "");
  const { paths, notes, nextCommand } = await upgrade();
  expect(paths).toEqual(["db/indexes.json", "db/rules", "firebase.json", "tally/.env", "tally/package.json"]);
  expect(nextCommand).toBe("npm install --prefix tally && npx firebase-tools deploy --only firestore,functions:tally");
  expect(read("db/rules")).toContain("return by <= 3;");
  expect(read("db/rules")).toMatch(/needsFunctions\(\) \{\s+return counterGroup\(\) in \['claps'\];/);
  expect(read("tally/package.json")).toContain("^0.1.0");
  expect(json(read("firebase.json")).functions[0].predeploy).toEqual(['npm --prefix "$RESOURCE_DIR" install']);
  expect(notes).toEqual(
    including("tally/.env has new parameters: MIRRORS", "sets GONE, which 0.1.0 does not have: remove it"),
  );
});

test("HISTORY_DAYS=0 of an older version becomes valid, and still keeps no history", async () => {
  const { init, upgrade, read, edit } = createProject();
  await init();
  edit("db/rules", /function needsFunctions\(\) \{[^}]*\}\n/, "");
  edit("tally/.env", /HISTORY=\nHISTORY_DAYS=30/, "HISTORY_DAYS=0 # none");
  await upgrade();
  expect(read("tally/.env").match(/^HISTORY\w*=.*$/gm)).toEqual(["HISTORY_DAYS=30 # none", "HISTORY="]);
  expect(read("db/rules")).toMatch(/needsFunctions\(\) \{\s+return counterGroup\(\) in \[\];/);
});

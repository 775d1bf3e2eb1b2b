/**
 * A run that is ended at any operation on the disk, and run again, leaves the files of one undisturbed run. An error that nothing catches
 * ends a run here as a signal would: the code has no `finally`.
 */
import * as node from "node:fs";
import { expect, test } from "vitest";
import { createProject, createTarballs } from "../../testing/setupProject.ts";
import type { FileOperations } from "./atomicWrites.ts";
import { makeChanges } from "./changes.ts";
import { prepareInit } from "./init.ts";

class Killed extends Error {}

/** File operations that end the run before the n-th one, or in the middle of a write. */
function dyingAt(n: number): FileOperations {
  let done = 0;
  const dying = <Args extends unknown[]>(operation: (...args: Args) => unknown, half?: (...args: Args) => void) =>
    ((...args: Args) => {
      if (done++ !== n) return operation(...args);
      half?.(...args);
      throw new Killed();
    }) as never;
  return {
    chmodSync: dying(node.chmodSync),
    mkdirSync: dying(node.mkdirSync),
    renameSync: dying(node.renameSync),
    rmSync: dying(node.rmSync),
    writeFileSync: dying(node.writeFileSync, (path, content) =>
      node.writeFileSync(path, (content as string).slice(0, content.toString().length / 2)),
    ),
  };
}

type Project = ReturnType<typeof createProject>;

/** Damage that `upgrade` has to repair in several files. */
async function outdated({ init, edit, at }: Project): Promise<void> {
  await init({ location: "eur3" });
  edit("db/rules", "// </tally>", "// an edit\n// </tally>");
  edit("db/indexes.json", '"indexes"', '"own": [], "other"');
  edit("tally/package.json", "^0.1.0", "^0.0.9");
  edit("tally/.env", /^MIRRORS=.*\n/m, "");
  edit("firebase.json", /,\s*"predeploy": \[.*\]/, "");
  node.rmSync(at("tally/index.js"));
}

let packages = "";

const OPTIONS = { location: "eur3", collection: "tallies", visitors: "views" };

test.each<
  [
    name: string,
    prepare: (project: Project) => unknown,
    run: (project: Project, operations?: FileOperations) => Promise<unknown>,
  ]
>([
  ["init", () => {}, ({ init }, operations) => init({ ...OPTIONS, database: "eu" }, operations)],
  [
    "an init that adds the functions",
    ({ init }) => init({ withoutFunctions: true, leaderboards: true }),
    ({ init }, operations) => init(OPTIONS, operations),
  ],
  [
    "a second init",
    ({ init }) => init(),
    ({ init }, operations) => init({ ...OPTIONS, edition: "enterprise" }, operations),
  ],
  [
    "an init that deletes a tarball",
    ({ init }) => {
      packages = createTarballs().packages;
      return init({ withoutFunctions: true, packages });
    },
    ({ init }, operations) => init({ packages }, operations),
  ],
  ["upgrade", outdated, ({ upgrade }, operations) => upgrade({}, operations)],
  ["remove", ({ init }) => init(OPTIONS), ({ remove }, operations) => remove(undefined, operations)],
  [
    "remove of a kit",
    ({ init }) => init({ ...OPTIONS, as: "kit" }),
    ({ remove }, operations) => remove(undefined, operations),
  ],
])("%s ends with the same files, whenever it was killed before", async (_, prepare, run) => {
  const prepared = createProject();
  await prepare(prepared);
  const undisturbed = prepared.copy();
  await run(undisturbed);
  const expected = undisturbed.files();
  let n = 0;
  for (let isKilled = true; isKilled; n++) {
    const project = prepared.copy();
    isKilled = await run(project, dyingAt(n)).then(
      () => false,
      (error) => {
        if (!(error instanceof Killed)) throw error;
        return true;
      },
    );
    await run(project);
    expect(project.files(), `killed at operation ${n}`).toEqual(expected);
  }
  expect(n).toBeGreaterThan(8);
});

test("a file that changes between the plan and the writes is not overwritten", async () => {
  const { at, files } = createProject();
  const { plan, folder } = await prepareInit(at(""), {}, false);
  node.appendFileSync(at("db/rules"), "// a word more\n");
  const before = files();
  expect(() => makeChanges(folder, plan.changes)).toThrow("db/rules has changed meanwhile; nothing was written");
  expect(files()).toEqual(before);
});

test("another command that follows deletes what a killed one has left, too", async () => {
  const { init, upgrade, files } = createProject();
  await init();
  await expect(init({ location: "nam5" }, dyingAt(3))).rejects.toThrow(Killed);
  const left = () => Object.keys(files()).filter((path) => path.endsWith(".tally-tmp"));
  expect(left()).toEqual([".firebase.json.tally-tmp"]);
  await upgrade();
  expect(left()).toEqual([]);
});

/**
 * What `npm pack` makes of each package installs into an empty project, and works there. `compatibility.test.ts` does the same
 * with other versions of the peers.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { admin } from "../../testkit/clients.ts";
import { sumOfShards } from "../../testkit/storedCounter.ts";

const project = mkdtempSync(join(tmpdir(), "tally-pack-"));
const [host, port] = (process.env.FIRESTORE_EMULATOR_HOST as string).split(":");
const projectId = process.env.GCLOUD_PROJECT as string;

function run(program: string, args: string[]): string {
  return execFileSync(program, args, { cwd: project, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** Runs a module in the project. */
function execute(code: string): string {
  writeFileSync(join(project, "main.mjs"), code);
  return run("node", ["main.mjs"]);
}

beforeAll(() => {
  writeFileSync(join(project, "package.json"), '{ "name": "app", "private": true, "type": "module" }');
  for (const folder of ["client", "functions"]) {
    execFileSync("npm", ["pack", "--silent", "--pack-destination", project, `./${folder}`]);
  }
  const tarballs = readdirSync(project).filter((file) => file.endsWith(".tgz"));
  expect(tarballs).toHaveLength(2);
  // The peers are what an app has anyway; here they are those of this repository.
  run("npm", [
    "install",
    "--prefer-offline",
    "--legacy-peer-deps",
    "--no-package-lock",
    ...tarballs.map((t) => `./${t}`),
  ]);
  symlinkSync(resolve("node_modules/firebase"), join(project, "node_modules/firebase"));
}, 180_000);

afterAll(() => rmSync(project, { recursive: true }));

describe("the client package", () => {
  test("has the code, the types, the rules and the indexes, a readme and a license, and nothing else", () => {
    const files = (folder: string) => readdirSync(join(project, "node_modules/firestore-tally", folder)).sort();
    expect(files(".")).toEqual([
      "LICENSE",
      "README.md",
      "dist",
      "firestore.indexes.json",
      "firestore.rules",
      "package.json",
    ]);
    const entries = ["admin", "beacon", "index", "react", "testing"];
    expect(files("dist")).toEqual(
      [
        "cli.js",
        "cli.licenses.txt",
        ...["totals.js", "totals.js.map", "totals.cjs", "totals.cjs.map"],
        ...entries.flatMap((entry) =>
          [".js", ".js.map", ".d.ts", ".cjs", ".cjs.map", ".d.cts"].map((ending) => entry + ending),
        ),
      ].sort(),
    );
  });

  test("counts from the web SDK", async () => {
    const printed = execute(`
      import { initializeApp, deleteApp } from "firebase/app";
      import { connectFirestoreEmulator, getFirestore } from "firebase/firestore";
      import { counter, getExactCounter, incrementCounter } from "firestore-tally";
      const app = initializeApp({ projectId: "${projectId}", apiKey: "any" });
      const db = getFirestore(app);
      connectFirestoreEmulator(db, "${host}", ${port});
      await incrementCounter(counter(db, "pack:web"));
      console.log(await getExactCounter(counter(db, "pack:web")));
      await deleteApp(app);
    `);
    expect(printed.trim()).toBe("1");
    expect(await sumOfShards("pack:web")).toBe(1);
  });

  test("counts from a server, and waits for the total in a test", async () => {
    const printed = execute(`
      import { initializeApp } from "firebase-admin/app";
      import { getFirestore } from "firebase-admin/firestore";
      import { counter, incrementCounter } from "firestore-tally/admin";
      import { prepareFirestore } from "firestore-tally/testing";
      const firestore = await prepareFirestore();
      const ref = counter(getFirestore(initializeApp({ projectId: "${projectId}" })), "pack:server");
      await Promise.all([incrementCounter(ref, 5), incrementCounter(ref, -2)]);
      console.log(await firestore.settled(ref));
      process.exit();
    `);
    expect(printed.trim()).toBe("3");
  });

  test("brings the command line along", async () => {
    expect(run("npx", ["firestore-tally", "--help"])).toContain("inspect <id>");
    await admin.doc("counters/pack:cli/shards/0").set({ count: 7, writes: 1 });
    const inspection = run("npx", ["firestore-tally", "inspect", "pack:cli", "--json"]);
    expect(JSON.parse(inspection)).toMatchObject({ id: "pack:cli", exact: { total: 7 } });
  });
});

test("the kit imports without a parameter's value", () => {
  const printed = execute(`
    import { tally } from "firestore-tally-kit";
    console.log(Object.keys(tally).sort().join());
  `);
  expect(printed.trim()).toBe(
    "aggregate,bridge,created,deleted,ingest,ingestevents,logentries,logevents,sweep,topkeys,totals,visitors,wake,wakebase,wakezero",
  );
});

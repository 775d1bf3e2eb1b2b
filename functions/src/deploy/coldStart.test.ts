/** What the built functions load when they are imported, in fresh processes; and what a process defines. */
import { execFileSync } from "node:child_process";
import { afterEach, expect, test, vi } from "vitest";
import { defineWhereRun } from "./coldStart.ts";
import { FUNCTIONS } from "./functions.ts";

afterEach(() => vi.unstubAllEnvs());

const BUILT = new URL("../../lib/index.js", import.meta.url);
const BY_HAND = new URL("../../../bench/bareFunction.mjs", import.meta.url);

/** Imports a module in a process of its own. @returns the packages that it loads, and the parts of firebase-admin */
function loadedBy(module: URL, environment: Record<string, string> = {}): ReadonlySet<string> {
  const program = `import("${module.href}").then(() => process.stdout.write(JSON.stringify(Object.keys(require.cache))))`;
  const { FUNCTION_TARGET: _, EXT_INSTANCE_ID: __, FIREBASE_KIT_INSTANCE_ID: ___, ...inherited } = process.env;
  const project = { GCLOUD_PROJECT: "demo-tally", FIREBASE_CONFIG: '{"projectId":"demo-tally"}' };
  const env = { ...inherited, ...project, ...environment };
  const files: string[] = JSON.parse(execFileSync(process.execPath, ["-e", program], { env, encoding: "utf8" }));
  const names = files.map((file) =>
    /^(firebase-admin\/lib\/[^/]+|@[^/]+\/[^/]+|[^/]+)\//.exec(file.split("node_modules/").at(-1) ?? ""),
  );
  return new Set(names.flatMap((match) => match?.[1] ?? []));
}

const EXTENSION = { EXT_INSTANCE_ID: "main" };

test("a function that Firestore triggers loads no package that one by hand does not load", () => {
  const byHand = loadedBy(BY_HAND);
  expect(byHand).toContain("@google-cloud/firestore");
  for (const environment of [
    { FUNCTION_TARGET: "tally.shardcreated" },
    { ...EXTENSION, FUNCTION_TARGET: "shardcreated" },
  ])
    expect([...loadedBy(BUILT, environment)].filter((name) => !byHand.has(name))).toEqual([]);
});

/** What no function needs before it is called. */
const LATER = [
  ...["firebase-admin/lib/eventarc", "firebase-admin/lib/functions", "firebase-admin/lib/database"],
  ...["@firebase/database-compat", "@google-cloud/pubsub"],
];

test.each([{}, EXTENSION])(
  "all functions together load what requests and tasks need, and no more: %j",
  (environment) => {
    const loaded = loadedBy(BUILT, environment);
    expect(loaded).toContain("firebase-admin/lib/auth");
    expect(LATER.filter((name) => loaded.has(name))).toEqual([]);
  },
);

test.each([
  ["tally.aggregate", ["aggregate"]],
  ["sweep", ["sweep"]],
  ["tally.shardcreated", ["shardcreated"]],
  ["renamed", [...FUNCTIONS.keys()]],
  [undefined, [...FUNCTIONS.keys()]],
])("a process of %s defines %j", (target, defined) => {
  vi.stubEnv("FUNCTION_TARGET", target);
  expect([...FUNCTIONS.keys()].flatMap((name) => defineWhereRun(name, () => name) ?? [])).toEqual(defined);
});

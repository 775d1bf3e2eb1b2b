import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { FEATURE_PLANS } from "../functions/src/features/plans.ts";
import { allImports, DRAWING, draw, findCircle, folderImports, folderOf } from "./imports.ts";

/** From the ground up. A folder imports from lower floors only. */
const FLOORS = [
  ["core"],
  ["client", "firestore", "mobile"],
  ["admin"],
  ["functions"],
  ["costs", "site"],
  ["cli", "web"],
  ["testkit"],
  ["examples", "demo", "bench"],
  ["test", "scripts"],
];

const imports = allImports();
const edges = folderImports(imports);

describe("the folders", () => {
  const floorOf = (folder: string) => FLOORS.findIndex((floor) => floor.includes(folder));

  test("are all on a floor", () => {
    for (const { from, to } of edges) for (const folder of [from, to]) expect(floorOf(folder), folder).not.toBe(-1);
    expect(edges.length).toBeGreaterThan(15);
  });

  test("import from lower floors only", () => {
    expect(edges.filter(({ from, to }) => floorOf(to) >= floorOf(from))).toEqual([]);
  });

  test("are drawn in CONTRIBUTING.md; to renew the drawing: node scripts/imports.ts", () => {
    expect(DRAWING.exec(readFileSync("CONTRIBUTING.md", "utf8"))?.[0]).toBe(draw(edges));
  });
});

describe("the files", () => {
  test("import no file that imports them, not even its types", () => {
    expect(findCircle(imports.filter(({ from }) => folderOf(from) !== "test"))).toBeUndefined();
  });

  test("of the tests may share types in a circle, but nothing that runs", () => {
    expect(findCircle(imports.filter(({ isTypeOnly }) => !isTypeOnly))).toBeUndefined();
  });
});

/** Of functions/src, from the ground up: the core, what features share, the features, and what is derived from them. */
const ROOMS = ["counter", "shared", "features", "deploy", undefined];

describe("in the functions", () => {
  const own = imports.filter(({ from, to }) =>
    [from, to].every((file) => /^functions\/src\/.*(?<!\.test)\.ts$/.test(file)),
  );
  const roomOf = (file: string) => ROOMS.indexOf(/^functions\/src\/(\w+)\//.exec(file)?.[1]);

  test("a file imports from its own floor, or a lower one", () => {
    expect(own.length).toBeGreaterThan(200);
    expect(own.filter(({ from, to }) => roomOf(to) > roomOf(from) || roomOf(to) < 0)).toEqual([]);
  });

  test("a feature imports only those that it needs", () => {
    const featureOf = (file: string) => /^functions\/src\/features\/(\w+)\//.exec(file)?.[1];
    for (const { name, needs = [] } of FEATURE_PLANS) {
      const imported = own.filter(({ from }) => featureOf(from) === name).flatMap(({ to }) => featureOf(to) ?? []);
      expect([name, ...needs], name).toEqual(expect.arrayContaining(imported));
    }
  });
});

test("a circle is found, however long", () => {
  const chain = ["a", "b", "c"].map((from, n) => ({ from, to: ["b", "c", "d"][n] as string }));
  expect(findCircle(chain)).toBeUndefined();
  expect(findCircle([...chain, { from: "d", to: "b" }])).toEqual(["b", "c", "d", "b"]);
});

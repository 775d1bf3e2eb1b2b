/** The built package as an app sees it: its public API, its size and its imports. */
import { execFileSync, spawnSync } from "node:child_process";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(`${root}/${path}`, "utf8");
const { exports } = JSON.parse(read("client/package.json"));
const entries = Object.keys(exports).map((entry) => (entry === "." ? "index" : entry.slice(2)));

describe("the public API", () => {
  test.each(entries)("of %s is that of client/api; to change it, run npm run api", (entry) => {
    expect(read(`client/types/api/${entry}.api.md`)).toBe(read(`client/api/${entry}.api.md`));
  });

  test("is documented in every part", () => {
    expect(readdirSync(new URL("api", import.meta.url)).sort()).toEqual(
      entries.map((entry) => `${entry}.api.md`).sort(),
    );
    for (const entry of entries) expect(read(`client/api/${entry}.api.md`)).not.toContain("(undocumented)");
  });

  test("has the same names for the web and for servers, except functions of only one of them", () => {
    const names = (entry: string) =>
      new Set([...read(`client/api/${entry}.api.md`).matchAll(/^export function (\w+)/gm)].map(([, name]) => name));
    const [web, admin] = [names("index"), names("admin")];
    expect([...web].filter((name) => !admin.has(name))).toEqual([
      "connectRegions",
      "counterStore",
      "globalCounter",
      "incrementCounterWithRateLimit",
      "incrementGlobalCounter",
      "onGlobalCounter",
      "prepareIncrement",
      "regionalCounter",
      "withRateLimit",
    ]);
    expect([...admin].filter((name) => !web.has(name))).toEqual([
      "deleteCounter",
      "ensureCounter",
      "forgetVisitors",
      "listCounters",
      "moveIncrements",
      "publishCounter",
      "rateLimiter",
      "reconcileCounter",
      "resetCounter",
      "setCounterSource",
      "undoIncrementsOf",
    ]);
  });

  test("has an example of each function, and the cost of each that does I/O", () => {
    for (const [entry, fewest] of Object.entries({ index: 10, admin: 10, beacon: 1 })) {
      const declarations = read(`client/dist/${entry}.d.ts`);
      const functions = [...declarations.matchAll(/\/\*\*((?:(?!\*\/).)*)\*\/\s*export declare function (\w+)/gs)];
      expect(functions.length).toBeGreaterThanOrEqual(fewest);
      for (const [, comment = "", name = ""] of functions) {
        expect(comment, name).toContain("@example");
        if (!comment.includes("No I/O")) expect(comment, name).toMatch(/Cost: /);
      }
    }
  });
});

describe("the size", () => {
  const sizes: { name: string; size: number; sizeLimit: number; passed: boolean }[] = JSON.parse(
    // It exits with an error if a size exceeds its limit; the tests below report which one.
    spawnSync("size-limit", ["--json"], { encoding: "utf8" }).stdout,
  );

  test.each(sizes)("of $name is $size bytes, within $sizeLimit", ({ passed }) => {
    expect(passed).toBe(true);
  });

  test("is that of docs/api.md", () => {
    const claims = [...read("docs/api.md").matchAll(/^\| .+ \| ([\d.]+) kB +\|$/gm)].map(([, kB]) => Number(kB));
    // The same code is some bytes larger or smaller with each build.
    expect(claims).toHaveLength(sizes.length);
    sizes.forEach(({ name, size }, index) => {
      expect(Math.abs((claims[index] as number) - size / 1_000), name).toBeLessThan(0.1);
    });
  });
});

test("the web entry imports only firebase/firestore, the React entry only this package and React, the beacon nothing", () => {
  const imports = (entry: string) =>
    [...new Set([...read(`client/dist/${entry}.js`).matchAll(/from "(.+?)"/g)].map(([, from]) => from))].sort();
  expect(imports("index")).toEqual(["firebase/firestore"]);
  expect(imports("react")).toEqual(["firestore-tally", "react"]);
  expect(imports("beacon")).toEqual([]);
  expect(imports("admin")).toEqual([
    "firebase-admin/firestore",
    "node:async_hooks",
    "node:timers/promises",
    "node:util",
  ]);
  expect(imports("testing")).toEqual(["node:fs", "node:module", "node:os", "node:path", "node:timers/promises"]);
});

describe("the command line", () => {
  const cli = read("client/dist/cli.js");

  test("is one file, which imports only Node's own modules", () => {
    expect(cli.startsWith("#!/usr/bin/env node\n")).toBe(true);
    const imports = [...cli.matchAll(/(?:^|[;}\n])import\b[^;"']*["']([^"']+)["']/g)].map(([, from = ""]) => from);
    expect(imports).toContain("node:module");
    expect(imports.filter((from) => !isBuiltin(from))).toEqual([]);
    const { bin, dependencies } = JSON.parse(read("client/package.json"));
    expect({ bin, dependencies }).toEqual({ bin: { "firestore-tally": "dist/cli.js" }, dependencies: undefined });
  });

  test("has less than 750 kB, and the licenses of its dependencies", () => {
    expect(Buffer.byteLength(cli)).toBeLessThan(750_000);
    const licenses = read("client/dist/cli.licenses.txt");
    for (const name of ["@clack/prompts", "cli-progress", "cli-table3", "commander", "diff", "jsonc-parser"]) {
      expect(licenses).toMatch(new RegExp(`^${name} \\d`, "m"));
    }
  });
});

test("the import of the package has no side effects", () => {
  expect(JSON.parse(read("client/package.json")).sideEffects).toBe(false);
  // Without side effects, the bundle of an unused import is empty.
  const bundle = execFileSync("esbuild", ["--bundle", "--minify", "--format=esm", "--external:firebase/*"], {
    input: 'import {} from "./client/dist/index.js"; import * as all from "./client/dist/index.js";',
    encoding: "utf8",
  });
  expect(bundle.replace(/import"firebase\/firestore";/g, "").trim()).toBe("");
});

test.each(["client", "functions"])("what an app gets of %s has no test that the app's vitest would run", (folder) => {
  const packed = execFileSync("npm", ["pack", "--dry-run", "--json", "--workspace", folder], {
    cwd: root,
    encoding: "utf8",
  });
  const [{ files }] = JSON.parse(packed) as [{ files: { path: string }[] }];
  expect(files.length).toBeGreaterThan(3);
  expect(files.filter(({ path }) => /\.(test|spec)\.\w+$/.test(path))).toEqual([]);
});

test("errors are compared by code: an app may load the package twice, from ESM and from CommonJS", () => {
  const sources = globSync("{core,client,admin,functions,costs,cli,web}/src/**/*.{ts,tsx}", { cwd: root });
  const documents = globSync("{*.md,docs/**/*.md,client/*.md,examples/**/*.ts}", { cwd: root });
  const product = [...sources.filter((file) => !file.endsWith(".test.ts")), ...documents];
  expect(product.length).toBeGreaterThan(100);
  expect(product.filter((file) => read(file).includes("instanceof CounterError"))).toEqual([]);
});

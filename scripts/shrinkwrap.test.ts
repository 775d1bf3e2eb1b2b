/** What the kit's shrinkwrap promises to who installs the kit. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { shrinkwrap } from "./shrinkwrap.ts";

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
const text = read("functions/npm-shrinkwrap.json");
const manifest = JSON.parse(read("functions/package.json"));

interface Entry {
  readonly version: string;
  readonly integrity?: string;
  readonly dev?: true;
}
const { packages } = JSON.parse(text) as { packages: Record<string, Entry> };
const { "": _, ...locked } = packages;

test("it is what `npm run shrinkwrap` writes today", { timeout: 120_000 }, () => {
  expect(text).toBe(shrinkwrap());
});

test("each version is the one that the tests of this repository run with", () => {
  const { packages: tested } = JSON.parse(read("package-lock.json")) as { packages: Record<string, Entry> };
  for (const name of Object.keys(manifest.dependencies)) expect(locked).toHaveProperty([`node_modules/${name}`]);
  for (const [path, { version, integrity }] of Object.entries(locked)) {
    const { version: wanted, integrity: sum } = tested[`functions/${path}`] ?? tested[path] ?? {};
    expect([path, version, integrity]).toEqual([path, wanted, sum]);
  }
});

test("it names neither a registry nor a development dependency, and every package has a checksum", () => {
  expect(text).not.toContain('"resolved"');
  for (const [path, { dev, integrity }] of Object.entries(locked)) {
    expect([path, dev, integrity]).toEqual([path, undefined, expect.stringMatching(/^sha512-/)]);
  }
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { installedBrowser } from "./chromium.ts";

const folder = mkdtempSync(join(tmpdir(), "tally-browsers-"));
for (const name of ["chromium", "google-chrome", "chosen"]) writeFileSync(join(folder, name), "");
afterAll(() => rmSync(folder, { recursive: true }));

const PATH = ["/nowhere", folder].join(delimiter);

test("CHROMIUM comes before what is installed", () => {
  expect(installedBrowser({ PATH, CHROMIUM: join(folder, "chosen") }, "linux")).toBe(join(folder, "chosen"));
});

test("an installed browser is found on the path", () => {
  expect(installedBrowser({ PATH }, "linux")).toBe(join(folder, "chromium"));
});

test("without one, another is fetched", () => {
  expect(installedBrowser({ PATH: "/nowhere" }, "linux")).toBeUndefined();
});

test("a wrong CHROMIUM is refused: another browser would hide the mistake", () => {
  expect(() => installedBrowser({ PATH, CHROMIUM: "/nowhere/chromium" }, "linux")).toThrow(
    /CHROMIUM=\/nowhere\/chromium/,
  );
});

import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyApp } from "./appCopy.ts";

test("what is written in the copy does not reach the app", () => {
  const scratch = mkdtempSync(join(tmpdir(), "tally-copy-"));
  onTestFinished(() => rmSync(scratch, { recursive: true }));
  const [app, copy] = [join(scratch, "app"), join(scratch, "copy")];
  const files = ["firebase.json", "node_modules/.package-lock.json", "node_modules/a/index.js", ".git/HEAD"];
  for (const folder of ["node_modules/a", ".git"]) mkdirSync(join(app, folder), { recursive: true });
  for (const file of files) writeFileSync(join(app, file), "the app's");
  symlinkSync("a", join(app, "node_modules/inside"));
  symlinkSync("../..", join(app, "node_modules/outside"));
  copyApp(app, copy);
  for (const file of files.slice(0, 3)) writeFileSync(join(copy, file), "changed");
  for (const file of files) expect(readFileSync(join(app, file), "utf8")).toBe("the app's");
  const inode = (folder: string, file: string) => statSync(join(folder, file)).ino;
  expect(inode(copy, "node_modules/inside")).toBe(inode(copy, "node_modules/a"));
  expect(inode(copy, "node_modules/outside")).toBe(inode(scratch, "."));
  expect(() => statSync(join(copy, ".git"))).toThrow("ENOENT");
});

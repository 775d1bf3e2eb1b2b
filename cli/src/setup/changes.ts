/** Changes of the files of a project: shown as a diff, then made all at once. */
import { mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createTwoFilesPatch } from "diff";
import { escapeControls } from "../escape.ts";
import { paint, print } from "../output.ts";

/** A file of the project before and after; `undefined` where it does not exist. */
export interface FileChange {
  /** Relative to the folder of the project. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | Buffer | undefined;
}

/** Those that change something. */
export function realChanges(changes: readonly FileChange[]): FileChange[] {
  return changes.filter(({ before, after }) => before !== after);
}

/** Prints a diff of each file that changes. New and deleted ones are named, unless all is to be shown. */
export function printDiff(changes: readonly FileChange[], showAll: boolean): void {
  for (const { path, before, after } of changes) {
    if (typeof after === "object") print(paint("bold", `new file ${path}, ${Math.ceil(after.length / 1_000)} kB`));
    else if (after === undefined) print(paint("bold", `delete ${path}`));
    else if (before === undefined && !showAll)
      print(paint("bold", `new file ${path}, ${after.split("\n").length - 1} lines`));
    else printPatch(path, before, after);
  }
}

function printPatch(path: string, before: string | undefined, after: string): void {
  const from = before === undefined ? "/dev/null" : path;
  const lines = createTwoFilesPatch(from, path, before ?? "", after)
    .trimEnd()
    .split("\n");
  // The library's heading varies.
  const hunks = lines.slice(lines.findIndex((line) => line.startsWith("@@")));
  for (const line of [`--- ${from}`, `+++ ${path}`, ...hunks]) print(painted(line));
}

function painted(line: string): string {
  const text = escapeControls(line.replace(/\r$/, ""));
  if (/^(---|\+\+\+) /.test(line)) return paint("bold", text);
  if (line.startsWith("@@")) return paint("cyan", text);
  if (line.startsWith("+")) return paint("green", text);
  return line.startsWith("-") ? paint("red", text) : text;
}

function removeIfEmpty(folder: string): void {
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

/** Writes and deletes the files. */
export function makeChanges(folder: string, changes: readonly FileChange[]): void {
  for (const { path, after } of changes) {
    const file = join(folder, path);
    if (after === undefined) {
      rmSync(file, { force: true });
      removeIfEmpty(dirname(file));
      continue;
    }
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, after);
  }
}

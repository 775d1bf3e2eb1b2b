/** Changes of the files of a project: shown as one line a file or as a diff, then made one after the other, each as a whole. */
import * as node from "node:fs";
import { join } from "node:path";
import { createTwoFilesPatch, diffLines } from "diff";
import { escapeControls } from "../escape.ts";
import { paint, print } from "../output.ts";
import { deleteFolder, type FileOperations, removeLeftovers, replaceFile } from "./atomicWrites.ts";

/** A file of the project before and after; `undefined` where it does not exist. Only a folder is deleted. */
export interface FileChange {
  /** Relative to the folder of the project. */
  readonly path: string;
  /** Of a folder that is deleted: an empty text. */
  readonly before: string | undefined;
  readonly after: string | Buffer | undefined;
}

/** Those that change something. */
export function realChanges(changes: readonly FileChange[]): FileChange[] {
  return changes.filter(({ before, after }) => before !== after);
}

/** One line: what happens to the file, and how many lines change. */
export function summaryOf({ path, before, after }: FileChange): string {
  if (after === undefined) return `delete ${path}/`;
  if (typeof after === "object") return `new file ${path}, ${Math.ceil(after.length / 1_000)} kB`;
  if (before === undefined) return `new file ${path}`;
  const parts = diffLines(before, after);
  const lines = (kind: "added" | "removed") =>
    parts.reduce((sum, part) => sum + (part[kind] ? (part.count ?? 0) : 0), 0);
  return `change ${path}: +${lines("added")} -${lines("removed")} lines`;
}

/** The lines that change. Of what is deleted or is no text, its summary. */
function diffOf(change: FileChange): string[] {
  const { path, before, after } = change;
  if (typeof after !== "string") return [summaryOf(change)];
  const from = before === undefined ? "/dev/null" : path;
  const lines = createTwoFilesPatch(from, path, before ?? "", after)
    .trimEnd()
    .split("\n");
  // The library's heading varies.
  const hunks = lines.slice(lines.findIndex((line) => line.startsWith("@@")));
  return [`--- ${from}`, `+++ ${path}`, ...hunks];
}

export function printDiff(changes: readonly FileChange[]): void {
  for (const line of changes.flatMap(diffOf)) print(painted(line));
}

function painted(line: string): string {
  const text = escapeControls(line.replace(/\r$/, ""));
  if (/^(---|\+\+\+) /.test(line)) return paint("bold", text);
  if (line.startsWith("@@")) return paint("cyan", text);
  if (line.startsWith("+")) return paint("green", text);
  return line.startsWith("-") ? paint("red", text) : text;
}

/**
 * Makes the changes in their order, and deletes what a killed run has left beside these files.
 *
 * @param changes  also those that change nothing
 */
export function makeChanges(folder: string, changes: readonly FileChange[], operations: FileOperations = node): void {
  const fileOf = ({ path }: FileChange) => join(folder, path);
  removeLeftovers(changes.map(fileOf), operations);
  for (const change of realChanges(changes)) {
    if (change.after === undefined) deleteFolder(fileOf(change), operations);
    else replaceFile(fileOf(change), change.after, operations);
  }
}

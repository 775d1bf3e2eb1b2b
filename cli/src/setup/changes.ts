/** Changes of a project's files. They are shown as one line a file or as a diff. Then they are made in their order. */
import * as node from "node:fs";
import { join } from "node:path";
import { createTwoFilesPatch, diffLines } from "diff";
import { CommandError, FAILED } from "../commandError.ts";
import { escapeControls } from "../escape.ts";
import { paint, print } from "../output.ts";
import { deleteWhole, type FileOperations, removeLeftovers, replaceFile } from "./atomicWrites.ts";

/** A change of a file or a folder of the project. Paths are relative to the folder of the project. */
export type FileChange = TextChange | BinaryFile | Deletion;

export interface TextChange {
  readonly kind: "text";
  readonly path: string;
  /** `undefined` for a new file. */
  readonly before: string | undefined;
  readonly after: string;
}

interface BinaryFile {
  readonly kind: "binary";
  readonly path: string;
  readonly content: Buffer;
  /** Whether the project has this very file already. */
  readonly isThere: boolean;
}

interface Deletion {
  readonly kind: "deletion";
  readonly path: string;
  readonly isFolder: boolean;
}

export function textChange(path: string, before: string | undefined, after: string): TextChange {
  return { kind: "text", path, before, after };
}

/** The changes that change something. */
export function realChanges(changes: readonly FileChange[]): FileChange[] {
  return changes.filter((change) => {
    if (change.kind === "text") return change.before !== change.after;
    return change.kind !== "binary" || !change.isThere;
  });
}

/** One word, for the output of `--json`. */
export function effectOf(change: FileChange): "created" | "changed" | "deleted" {
  if (change.kind === "deletion") return "deleted";
  return change.kind === "binary" || change.before === undefined ? "created" : "changed";
}

/** One line: what happens to the file, and how many lines change. */
export function summaryOf(change: FileChange): string {
  const { path } = change;
  if (change.kind === "deletion") return `delete ${path}${change.isFolder ? "/" : ""}`;
  if (change.kind === "binary") return `new file ${path}, ${Math.ceil(change.content.length / 1_000)} kB`;
  if (change.before === undefined) return `new file ${path}`;
  const parts = diffLines(change.before, change.after);
  const lines = (kind: "added" | "removed") =>
    parts.reduce((sum, part) => sum + (part[kind] ? (part.count ?? 0) : 0), 0);
  return `change ${path}: +${lines("added")} -${lines("removed")} lines`;
}

/** The changed lines. For a deletion or a binary file, its summary. */
function diffOf(change: FileChange): string[] {
  if (change.kind !== "text") return [summaryOf(change)];
  const { path, before, after } = change;
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
 * @throws CommandError if a file has changed since the plan was made, such as by an editor while the question was open
 */
export function makeChanges(folder: string, changes: readonly FileChange[], operations: FileOperations = node): void {
  const fileOf = ({ path }: FileChange) => join(folder, path);
  refuseChanged(folder, changes);
  removeLeftovers(changes.map(fileOf), operations);
  for (const change of realChanges(changes)) {
    const path = fileOf(change);
    if (change.kind === "text") replaceFile(path, change.after, operations);
    else if (change.kind === "binary") replaceFile(path, change.content, operations);
    else deleteWhole(path, operations);
  }
}

function refuseChanged(folder: string, changes: readonly FileChange[]): void {
  for (const change of realChanges(changes)) {
    if (change.kind !== "text") continue;
    const path = join(folder, change.path);
    const now = node.existsSync(path) ? node.readFileSync(path, "utf8") : undefined;
    if (now !== change.before)
      throw new CommandError(FAILED, `${change.path} has changed meanwhile; nothing was written. Run this again`);
  }
}

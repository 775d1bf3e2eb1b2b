/**
 * Writes whole files. A new text is written beside the file and renamed to it, so that a run that is killed leaves the file as it was or as
 * it will be. The temporary name follows from the file's, so that the next run finds what a killed one has left.
 */
import * as node from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** The operations that change a disk. A test ends a run between any two of them. */
export type FileOperations = Pick<typeof node, "chmodSync" | "mkdirSync" | "renameSync" | "rmSync" | "writeFileSync">;

const ENDING = ".tally-tmp";

/** Whether a killed run has left a file of this name. */
export function isLeftover(name: string): boolean {
  return name.startsWith(".") && name.endsWith(ENDING);
}

/** Writes a file. A link stays, and the file that it leads to is written. The mode stays. */
export function replaceFile(path: string, content: string | Buffer, operations: FileOperations): void {
  const file = targetOf(path);
  const temporary = temporaryOf(file);
  operations.mkdirSync(dirname(file), { recursive: true });
  const mode = node.statSync(file, { throwIfNoEntry: false })?.mode;
  operations.writeFileSync(temporary, content, { flush: true, ...(mode !== undefined && { mode }) });
  // The system may have taken rights from the mode.
  if (mode !== undefined) operations.chmodSync(temporary, mode);
  operations.renameSync(temporary, file);
}

/** Renames a file or a folder to a temporary name, then deletes it. A killed run leaves the temporary name. */
export function deleteWhole(path: string, operations: FileOperations): void {
  const temporary = temporaryOf(path);
  operations.renameSync(path, temporary);
  operations.rmSync(temporary, { recursive: true, force: true });
}

/** Deletes what a killed run has left beside these files. */
export function removeLeftovers(paths: readonly string[], operations: FileOperations): void {
  const folders = new Set(paths.map((path) => dirname(targetOf(path))).filter((folder) => node.existsSync(folder)));
  for (const folder of folders)
    for (const name of node.readdirSync(folder).filter(isLeftover))
      operations.rmSync(join(folder, name), { recursive: true, force: true });
}

function temporaryOf(path: string): string {
  return join(dirname(path), `.${basename(path)}${ENDING}`);
}

/** The file that a link leads to; the path itself if it is no link. */
function targetOf(path: string): string {
  const isLink = node.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
  return isLink ? targetOf(resolve(dirname(path), node.readlinkSync(path))) : path;
}

/** A copy of an app's folder, so that a rehearsal changes nothing in it. */
import { constants, copyFileSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/** Neither deployed nor read by the CLI. */
const LEFT_OUT = [".git"];

/** Copies a folder to one that does not exist yet. */
export function copyApp(from: string, to: string): void {
  copyFolder(from, to, resolve(from));
}

function copyFolder(from: string, to: string, app: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (LEFT_OUT.includes(entry.name)) continue;
    if (entry.isSymbolicLink()) symlinkSync(targetOf(source, app), target);
    else if (entry.isDirectory()) copyFolder(source, target, app);
    // On disks that share blocks between files, this takes no time.
    else if (entry.isFile()) copyFileSync(source, target, constants.COPYFILE_FICLONE);
  }
}

/** What a link points at: the copy, or what it was, outside of the app. */
function targetOf(link: string, app: string): string {
  const target = readlinkSync(link);
  const absolute = resolve(dirname(link), target);
  const isInside = !relative(app, absolute).startsWith("..");
  return isInside && target !== absolute ? target : absolute;
}

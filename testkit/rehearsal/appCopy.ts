/**
 * A copy of an app's folder, so that a rehearsal changes nothing in it. Installed packages are hard links, which take a second instead of
 * minutes.
 */
import { constants, copyFileSync, linkSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const PACKAGES = "node_modules";

/** npm writes this one in place, and so would write the app's. */
const LOCK = ".package-lock.json";

/** Neither deployed nor read by the CLI. */
const LEFT_OUT = [".git"];

/** Copies a folder to one that does not exist yet. */
export function copyApp(from: string, to: string): void {
  copyFolder(from, to, resolve(from));
}

function copyFolder(from: string, to: string, app: string): void {
  mkdirSync(to, { recursive: true });
  const isInstalled = relative(app, from).split(/[\\/]/).includes(PACKAGES);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (LEFT_OUT.includes(entry.name)) continue;
    if (entry.isSymbolicLink()) symlinkSync(targetOf(source, app), target);
    else if (entry.isDirectory()) copyFolder(source, target, app);
    else if (entry.isFile()) (isInstalled && entry.name !== LOCK ? link : copyFile)(source, target);
  }
}

/** What a link points at: the copy, or what it was, outside of the app. */
function targetOf(link: string, app: string): string {
  const target = readlinkSync(link);
  const absolute = resolve(dirname(link), target);
  const isInside = !relative(app, absolute).startsWith("..");
  return isInside && target !== absolute ? target : absolute;
}

function link(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    // Another disk, or one without hard links.
    copyFile(source, target);
  }
}

function copyFile(source: string, target: string): void {
  copyFileSync(source, target, constants.COPYFILE_FICLONE);
}

/** The folder of Tally's functions in an app's project: a package that depends on the kit. */
import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import kit from "../../../functions/package.json" with { type: "json" };
import { CommandError, WRONG_USAGE } from "../commandError.ts";
import { setIn } from "./json.ts";
import { VERSION } from "./packaged.ts";

export const KIT = "firestore-tally-kit";
export const CLIENT = "firestore-tally";

const INDEX = `export * from "${KIT}";\n`;

// The Functions emulator wants to see the two here, too.
const { "firebase-admin": admin, "firebase-functions": functions } = kit.dependencies;

const manifestOf = (version: string) => ({
  name: "tally-functions",
  private: true,
  type: "module",
  main: "index.js",
  dependencies: { "firebase-admin": admin, "firebase-functions": functions, [KIT]: version },
});

/** A file of the codebase: its path in the folder, and its content. */
type File = readonly [path: string, content: string | Buffer];

/** The name of a package's tarball, as `npm pack` makes it. */
const tarballOf = (name: string) => `${name}-${VERSION}.tgz`;

/** What the codebase depends on, as npm writes it. */
export function kitVersion(packages: string | undefined): string {
  return packages === undefined ? `^${VERSION}` : `file:${tarballOf(KIT)}`;
}

/** What the app depends on, as npm writes it. @param codebase  the folder that has a copy of the tarball */
export function clientVersion(codebase: string, packages: string | undefined): string {
  return packages === undefined ? `^${VERSION}` : `file:${codebase}/${tarballOf(CLIENT)}`;
}

/**
 * @param packages  the folder that has the tarballs of both packages, if they do not come from the registry. They are copied, because
 *                  Cloud Build, and a clone of the app, install what lies in the project.
 */
export function codebaseFiles(packages: string | undefined): File[] {
  const files: File[] = [
    ["package.json", `${JSON.stringify(manifestOf(kitVersion(packages)), null, 2)}\n`],
    ["index.js", INDEX],
  ];
  if (packages === undefined) return files;
  return [...files, ...[KIT, CLIENT].map((name): File => [tarballOf(name), readTarball(packages, name)])];
}

function readTarball(packages: string, name: string): Buffer {
  const path = resolve(packages, tarballOf(name));
  try {
    return readFileSync(path);
  } catch {
    throw new CommandError(WRONG_USAGE, `--packages: ${path} is missing; \`npm pack\` makes it`);
  }
}

/** A manifest with a version of a dependency. */
export function withDependency(text: string, name: string, version: string): string {
  return setIn(text, ["dependencies", name], version);
}

/** Whether an installed tarball is of this version. */
export function isTarball(file: string): boolean {
  return /^firestore-tally(-kit)?-\d.*\.tgz$/.test(basename(file));
}

/**
 * The package of a codebase, as `init` writes it, and what the developer has added to it. Its content shows that a folder is Tally's; the
 * names of folders and codebases do not.
 */
import { basename } from "node:path";
import kit from "../../../functions/package.json" with { type: "json" };
import { isLeftover } from "./atomicWrites.ts";
import { isCut, isParameter, unknownIn, type Values, valuesIn } from "./dotenv.ts";
import { parseJson } from "./json.ts";

export const KIT = "firestore-tally-kit";
export const CLIENT = "firestore-tally";

export const INDEX = `export * from "${KIT}";\n`;

/** Reads the files of a project, by their paths in it. */
export interface Files {
  /** The text of a file; `undefined` if there is none. */
  read(path: string): string | undefined;
  has(path: string): boolean;
  /** The content of a binary file; `undefined` if there is none. */
  bytes(path: string): Buffer | undefined;
  /** The names in a folder; empty if there is none. */
  list(folder: string): readonly string[];
}

// The Functions emulator demands that the codebase's own package names these two.
const { "firebase-admin": admin, "firebase-functions": functions } = kit.dependencies;

/** What the codebase depends on besides the kit. */
export const SDK_DEPENDENCIES: Values = { "firebase-admin": admin, "firebase-functions": functions };

const NAME = "tally-functions";
const MAIN = "index.js";

export function manifestWith(version: string): string {
  const dependencies = { ...SDK_DEPENDENCIES, [KIT]: version };
  return `${JSON.stringify({ name: NAME, private: true, type: "module", main: MAIN, dependencies }, null, 2)}\n`;
}

interface Manifest {
  readonly main?: string;
  readonly dependencies?: Values;
  readonly devDependencies?: Values;
}

/** A manifest that can be read. */
export function manifestIn(text: string | undefined): Manifest | undefined {
  const value = parseJson(text ?? "");
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}

/** Whether a text is the beginning of a manifest that `init` has written, with any version of the kit. */
export function isCutManifest(text: string): boolean {
  const [head = "", tail = ""] = manifestWith("VERSION").split("VERSION");
  const afterVersion = text.slice(head.length).replace(/^[^"\n]*/, "");
  const isBeginning = head.startsWith(text) || (text.startsWith(head) && tail.startsWith(afterVersion));
  return manifestIn(text) === undefined && isBeginning;
}

/** The keys and dependencies of a manifest that `init` does not write. */
export function foreignEntriesIn(text: string): string[] {
  if (isCutManifest(text)) return [];
  const manifest = manifestIn(text);
  if (manifest === undefined) return ["no JSON"];
  const { dependencies = {}, ...others } = manifest;
  const isWritten = ([key, value]: [string, unknown]) =>
    key === "name" || key === "private" || (key === "type" && value === "module") || (key === "main" && value === MAIN);
  const keys = Object.entries(others).filter((entry) => !isWritten(entry));
  const names = Object.keys(dependencies).filter((name) => name !== KIT && !Object.hasOwn(SDK_DEPENDENCIES, name));
  return [...keys.map(([key]) => key), ...names];
}

/** Whether code is the export of the kit alone, or its beginning. */
function isIndex(text: string): boolean {
  return INDEX.startsWith(text) || new RegExp(`^\\s*export \\* from (["'])${KIT}\\1;?\\s*$`).test(text);
}

/** Whether a file is a tarball of Tally, of any version. */
export function isTarball(file: string): boolean {
  return /^firestore-tally(-kit)?-\d.*\.tgz$/.test(basename(file));
}

/** Files that npm, the Firebase CLI or the system leave in a folder. */
const BY_TOOLS =
  /^(node_modules|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|\.DS_Store|.*-debug\.log)$/;

/** Whether the manifest of a folder depends on the kit. */
export function dependsOnKit(files: Files, folder: string): boolean {
  const { dependencies, devDependencies } = { ...manifestIn(files.read(`${folder}/package.json`)) };
  return Object.hasOwn({ ...dependencies, ...devDependencies }, KIT);
}

/** The files in a folder that `init` does not write, in words. Empty if the folder has only Tally's files, or is missing. */
export function foreignFilesIn(files: Files, folder: string): string[] {
  return files.list(folder).flatMap((name) => {
    const text = () => files.read(`${folder}/${name}`) ?? "";
    if (BY_TOOLS.test(name) || isLeftover(name) || isTarball(name)) return [];
    const foreign =
      name === "package.json" ? foreignEntriesIn(text()) : ENV.test(name) ? foreignParametersIn(text()) : undefined;
    if (foreign !== undefined) return foreign.length === 0 ? [] : [`${name} (${foreign.join(", ")})`];
    return name === "index.js" && isIndex(text()) ? [] : [name];
  });
}

/** A file of parameters, as the Firebase CLI reads it. */
const ENV = /^\.env(\.[\w-]+)?$/;

/** Without any of Tally's parameters, a file is the developer's. */
function foreignParametersIn(text: string): string[] {
  const isTallys = text.trim() === "" || isCut(text) || Object.keys(valuesIn(text)).some(isParameter);
  return isTallys ? unknownIn(text) : ["none of Tally's parameters"];
}

/** Whether a codebase has code of the developer. Its entry in `firebase.json` is then the developer's, too. */
export function hasForeignCode(files: Files, folder: string): boolean {
  return foreignFilesIn(files, folder).some((foreign) => !foreign.startsWith(".env"));
}

/** The folder of Tally's functions in an app's project: what `init` writes and repairs in it, and what `upgrade` renews. */
import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import validRange from "semver/ranges/valid.js";
import { CommandError, WRONG_USAGE } from "../commandError.ts";
import { type FileChange, type TextChange, textChange } from "./changes.ts";
import { completeDotenv, isCut, newDotenv, type Values, valuesIn, withoutCutLine, withValues } from "./dotenv.ts";
import { setIn } from "./json.ts";
import {
  CLIENT,
  type Files,
  foreignEntriesIn,
  hasForeignCode,
  INDEX,
  isCutManifest,
  isTarball,
  KIT,
  manifestIn,
  manifestWith,
  SDK_DEPENDENCIES,
} from "./kitPackage.ts";
import { VERSION } from "./packaged.ts";
import { joinPath, MANIFEST } from "./project.ts";

/** The name of a package's tarball, as `npm pack` makes it. */
const tarballOf = (name: string) => `${name}-${VERSION}.tgz`;

/** The version of the client for the app's package. @param app, codebase  folders; the codebase's has a copy of the tarball */
export function clientVersion(app: string, codebase: string, packages: string | undefined): string {
  if (packages === undefined) return `^${VERSION}`;
  return `file:${[relative(app, codebase).replaceAll("\\", "/"), tarballOf(CLIENT)].filter(Boolean).join("/")}`;
}

/** Sets the version of a dependency, in `devDependencies` if it is there, else in `dependencies`. */
export function withDependency(text: string, name: string, version: string): string {
  const kind = Object.hasOwn(manifestIn(text)?.devDependencies ?? {}, name) ? "devDependencies" : "dependencies";
  return setIn(text, [kind, name], version);
}

/** The version that `upgrade` writes for a dependency. A tarball, a link or a tag stays. */
export function upgradedVersion(present: string | undefined, wanted: string, packages: string | undefined): string {
  const isForeign = packages === undefined && present !== undefined && validRange(present) === null;
  return isForeign ? present : wanted;
}

export interface CodebaseOptions {
  readonly folder: string;
  /** A folder that has the tarballs of both packages, if they do not come from the registry. */
  readonly packages: string | undefined;
  /** The parameters of a new file that are not the default. */
  readonly initialParameters: Values;
  /** The parameters that are set, also in a file that is there. */
  readonly changedParameters: Values;
  /** Whether the kit is brought to this version. */
  readonly upgradesKit: boolean;
}

/** Changes, and notes on what the developer has to do. */
export interface ChangesWithNotes {
  readonly changes: readonly FileChange[];
  readonly notes: readonly string[];
}

interface CodebaseChanges extends ChangesWithNotes {
  /** The change of the file of parameters. */
  readonly env: TextChange;
  /** The parameters that a file of an older version did not have. */
  readonly addedParameters: readonly string[];
}

/** Writes what is missing. Leaves everything else, also the developer's code and dependencies. */
export function codebaseChanges(files: Files, options: CodebaseOptions): CodebaseChanges {
  const { folder, packages } = options;
  const tarballs =
    packages === undefined ? [] : [KIT, CLIENT].map((name) => tarballChange(files, folder, packages, name));
  const manifest = manifestChange(files, options);
  const index = indexChanges(files, folder, manifest.after);
  const { env, addedParameters } = parameterChange(files, options);
  return {
    changes: [...tarballs, manifest, ...index.changes, env],
    notes: [
      ...(packages === undefined ? tarballNotes(files, manifest.after, options) : []),
      ...index.notes,
      ...accountNotes(files, folder),
    ],
    env,
    addedParameters,
  };
}

function tarballChange(files: Files, folder: string, packages: string, name: string): FileChange {
  const path = joinPath(folder, tarballOf(name));
  const content = readTarball(packages, name);
  return { kind: "binary", path, content, isThere: files.bytes(path)?.equals(content) === true };
}

function manifestChange(files: Files, { folder, packages, upgradesKit }: CodebaseOptions): TextChange {
  const path = `${folder}/package.json`;
  const present = files.read(path);
  const isFromTarball = packages !== undefined || files.has(`${folder}/${tarballOf(KIT)}`);
  const version = isFromTarball ? `file:${tarballOf(KIT)}` : `^${VERSION}`;
  const text = present === undefined || isCutManifest(present) ? manifestWith(version) : present;
  const { dependencies, devDependencies } = manifestIn(text) ?? {};
  const depends = dependencies?.[KIT] ?? devDependencies?.[KIT] ?? version;
  const kept = upgradesKit ? upgradedVersion(depends, `^${VERSION}`, packages) : depends;
  const after = withSdkDependencies(withDependency(text, KIT, packages === undefined ? kept : version));
  return textChange(path, present, after);
}

/** Writes the code of the codebase. The developer's code and another main file stay. */
function indexChanges(files: Files, folder: string, manifest: string): ChangesWithNotes {
  if ((manifestIn(manifest)?.main ?? "index.js") !== "index.js") return { changes: [], notes: [] };
  const path = `${folder}/index.js`;
  const before = files.read(path);
  if (before === undefined || INDEX.startsWith(before))
    return { changes: [textChange(path, before, INDEX)], notes: [] };
  const isExported = before.includes(KIT);
  const note = `${path} does not export Tally's functions: add the line \`${INDEX.trim()}\` to it`;
  return { changes: [textChange(path, before, before)], notes: isExported ? [] : [note] };
}

function parameterChange(files: Files, { folder, initialParameters, changedParameters }: CodebaseOptions) {
  const path = `${folder}/.env`;
  const before = files.read(path);
  const change = (text: string) => textChange(path, before, withValues(text, changedParameters));
  if (before === undefined || isCut(before)) {
    const left = valuesIn(withoutCutLine(before ?? ""));
    return { env: change(newDotenv({ ...initialParameters, ...left })), addedParameters: [] };
  }
  const { text, added } = completeDotenv(before, VERSION, initialParameters);
  return { env: change(text), addedParameters: added };
}

/** Adds the SDK's packages. A package that has more than Tally's entries stays as it is. */
function withSdkDependencies(text: string): string {
  if (foreignEntriesIn(text).length > 0) return text;
  const present = manifestIn(text)?.dependencies ?? {};
  const missing = Object.entries(SDK_DEPENDENCIES).filter(([name]) => !Object.hasOwn(present, name));
  return missing.reduce((edited, [name, version]) => setIn(edited, ["dependencies", name], version), text);
}

/** The Firebase CLI applies declared roles to all functions of a codebase. */
function accountNotes(files: Files, folder: string): string[] {
  if (!hasForeignCode(files, folder) || valuesIn(files.read(`${folder}/.env`) ?? "").SERVICE_ACCOUNT) return [];
  return [
    `${folder}/ also has functions of your own. The next deployment runs all of them as an account with the roles of Tally's functions alone: ` +
      `declare the roles that yours need with requiresRole() of firebase-functions, or set SERVICE_ACCOUNT in ${folder}/.env`,
  ];
}

/** Warns if the tarball that the codebase depends on is missing, or stays old after an upgrade. */
function tarballNotes(files: Files, manifest: string, { folder, upgradesKit }: CodebaseOptions): string[] {
  const name = tarballIn(manifestIn(manifest)?.dependencies?.[KIT]);
  if (name === undefined) return [];
  if (!isWhole(files.bytes(`${folder}/${name}`)))
    return [
      `${folder}/${name}, on which ${folder}/package.json depends, is missing or damaged: pass --packages <folder of the tarballs>`,
    ];
  return upgradesKit
    ? [`${folder}/package.json still depends on ${name}: for newer functions, pass --packages <folder of the tarballs>`]
    : [];
}

/** The tarball that a dependency names, if that is in the folder of the package. */
function tarballIn(dependency = ""): string | undefined {
  return /^file:(?:\.\/)?([^/]+\.tgz)$/.exec(dependency)?.[1];
}

function isWhole(tarball: Buffer | undefined): boolean {
  try {
    return tarball !== undefined && gunzipSync(tarball).length > 0;
  } catch {
    return false;
  }
}

/** Without functions, the client's tarball is in the folder of the app, if that has a package. */
export function clientTarball(files: Files, folder: string, packages: string | undefined): ChangesWithNotes {
  const isNeeded = packages !== undefined && files.has(joinPath(folder, MANIFEST));
  return { changes: isNeeded ? [tarballChange(files, folder, packages, CLIENT)] : [], notes: [] };
}

/**
 * Deletes the tarball of the client in the folder of the app, when the app depends on another one from now on.
 *
 * @param before, after  the app's dependency on the client
 */
export function unusedTarball(files: Files, folder: string, before: string, after: string): FileChange[] {
  const name = tarballIn(before);
  if (name === undefined || name === tarballIn(after) || !isTarball(name)) return [];
  const path = joinPath(folder, name);
  return files.has(path) ? [{ kind: "deletion", path, isFolder: false }] : [];
}

/** Tarballs are copied into the project, because Cloud Build and fresh clones install from there. */
function readTarball(packages: string, name: string): Buffer {
  const path = resolve(packages, tarballOf(name));
  try {
    return readFileSync(path);
  } catch {
    throw new CommandError(WRONG_USAGE, `--packages: ${path} is missing; \`npm pack\` makes it`);
  }
}

/** The folder of Tally's functions in an app's project: what `init` writes, repairs and renews in it. */
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
  INDEX,
  isCutManifest,
  KIT,
  manifestIn,
  manifestWith,
  SDK_DEPENDENCIES,
} from "./kitPackage.ts";
import { VERSION } from "./packaged.ts";

/** The name of a package's tarball, as `npm pack` makes it. */
const tarballOf = (name: string) => `${name}-${VERSION}.tgz`;

/** What the app depends on, as npm writes it. @param app, codebase  folders; that of the codebase has a copy of the tarball */
export function clientVersion(app: string, codebase: string, packages: string | undefined): string {
  if (packages === undefined) return `^${VERSION}`;
  return `file:${[relative(app, codebase).replaceAll("\\", "/"), tarballOf(CLIENT)].filter(Boolean).join("/")}`;
}

/** A manifest with a version of a dependency, where it is or among those that an app needs. */
export function withDependency(text: string, name: string, version: string): string {
  const kind = Object.hasOwn(manifestIn(text)?.devDependencies ?? {}, name) ? "devDependencies" : "dependencies";
  return setIn(text, [kind, name], version);
}

/** What `upgrade` writes for a dependency. What npm does not take from its registry stays: a tarball, a link, a tag. */
export function upgradedVersion(present: string | undefined, wanted: string, packages: string | undefined): string {
  const isOwn = packages === undefined && present !== undefined && validRange(present) === null;
  return isOwn ? present : wanted;
}

export interface CodebaseOptions {
  readonly folder: string;
  /** A folder that has the tarballs of both packages, if they do not come from the registry. */
  readonly packages: string | undefined;
  /** The parameters of a new file, as far as they are not the default. */
  readonly initialParameters: Values;
  /** The parameters that are set, also in a file that is there. */
  readonly changedParameters: Values;
  /** Whether the kit is brought to this version. */
  readonly upgradesKit: boolean;
}

/** With what the developer has to do. */
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

/** What is missing or cut is written. All else stays: code and dependencies of the developer's own, too. */
export function codebaseChanges(files: Files, options: CodebaseOptions): CodebaseChanges {
  const { folder, packages } = options;
  const tarballs =
    packages === undefined ? [] : [KIT, CLIENT].map((name) => tarballChange(files, folder, packages, name));
  const manifest = manifestChange(files, options);
  const index = indexChanges(files, folder, manifest.after);
  const { env, addedParameters } = parameterChange(files, options);
  return {
    changes: [...tarballs, manifest, ...index.changes, env],
    notes: [...(packages === undefined ? tarballNotes(files, manifest.after, options) : []), ...index.notes],
    env,
    addedParameters,
  };
}

function tarballChange(files: Files, folder: string, packages: string, name: string): FileChange {
  const path = `${folder}/${tarballOf(name)}`;
  const content = readTarball(packages, name);
  return { kind: "binary", path, content, isThere: files.bytes(path)?.equals(content) === true };
}

function manifestChange(files: Files, { folder, packages, upgradesKit }: CodebaseOptions): TextChange {
  const path = `${folder}/package.json`;
  const present = files.read(path);
  const isFromTarball = packages !== undefined || files.has(`${folder}/${tarballOf(KIT)}`);
  const version = isFromTarball ? `file:${tarballOf(KIT)}` : `^${VERSION}`;
  const text = present === undefined || isCutManifest(present) ? manifestWith(version) : present;
  const depends = manifestIn(text)?.dependencies?.[KIT] ?? version;
  const kept = upgradesKit ? upgradedVersion(depends, `^${VERSION}`, packages) : depends;
  const after = withSdkDependencies(withDependency(text, KIT, packages === undefined ? kept : version));
  return textChange(path, present, after);
}

/** Code of the developer's own stays, and so does another main file. */
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

/** A package of the developer's own stays as it is. */
function withSdkDependencies(text: string): string {
  if (foreignEntriesIn(text).length > 0) return text;
  const present = manifestIn(text)?.dependencies ?? {};
  const missing = Object.entries(SDK_DEPENDENCIES).filter(([name]) => !Object.hasOwn(present, name));
  return missing.reduce((edited, [name, version]) => setIn(edited, ["dependencies", name], version), text);
}

/** A tarball that the codebase depends on must be whole, and is renewed only by another. */
function tarballNotes(files: Files, manifest: string, { folder, upgradesKit }: CodebaseOptions): string[] {
  const [, name] = /^file:(?:\.\/)?([^/]+\.tgz)$/.exec(manifestIn(manifest)?.dependencies?.[KIT] ?? "") ?? [];
  if (name === undefined) return [];
  if (!isWhole(files.bytes(`${folder}/${name}`)))
    return [
      `${folder}/${name}, on which ${folder}/package.json depends, is missing or damaged: pass --packages <folder of the tarballs>`,
    ];
  return upgradesKit
    ? [`${folder}/package.json still depends on ${name}: for newer functions, pass --packages <folder of the tarballs>`]
    : [];
}

function isWhole(tarball: Buffer | undefined): boolean {
  try {
    return tarball !== undefined && gunzipSync(tarball).length > 0;
  } catch {
    return false;
  }
}

/** They are copied, because Cloud Build, and a clone of the app, install what lies in the project. */
function readTarball(packages: string, name: string): Buffer {
  const path = resolve(packages, tarballOf(name));
  try {
    return readFileSync(path);
  } catch {
    throw new CommandError(WRONG_USAGE, `--packages: ${path} is missing; \`npm pack\` makes it`);
  }
}

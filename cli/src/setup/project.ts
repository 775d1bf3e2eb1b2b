/** A Firebase project as it lies in a folder: its files, Tally's functions, and the app in it. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { projectFolders } from "../projectFolders.ts";
import { type CurrentSettings, currentSettings } from "./currentSettings.ts";
import {
  FIREBASE_JSON,
  type FirestoreFiles,
  type FunctionsEntry,
  firestoreFilesIn,
  functionsEntriesIn,
} from "./firebaseJson.ts";
import { readJson } from "./json.ts";
import type { Files } from "./kitPackage.ts";
import { functionsFor, type TallysFunctions, tallysFunctionsIn } from "./tallysFunctions.ts";

export const MANIFEST = "package.json";

/** The app whose code counts. */
export interface App {
  /** Relative to the folder of the project; empty if it is the same. */
  readonly folder: string;
  /** @param path  in the folder of the app */
  has(path: string): boolean;
  /** What the app's package depends on; empty if there is no package. */
  readonly dependencies: Readonly<Record<string, string>>;
}

export interface Project extends Files {
  /** Where `firebase.json` is, or will be. */
  readonly folder: string;
  readonly app: App;
  /** Of all functions in `firebase.json`. */
  readonly functionsEntries: readonly FunctionsEntry[];
  /** Tally's functions, of each database. */
  readonly allFunctions: readonly TallysFunctions[];
  /** Those that count in the database. */
  readonly functions: TallysFunctions | undefined;
  readonly database: string;
  readonly firestoreFiles: FirestoreFiles;
  readonly settings: CurrentSettings;
}

/**
 * @param cwd       where the command runs: in the folder of `firebase.json` or below
 * @param database  its id; by default the database of Tally's functions
 * @throws CommandError if `firebase.json` cannot be read, or the functions count in another database
 */
export function readProject(cwd: string, database?: string): Project {
  const folder = folderOf(cwd);
  const has = (path: string) => existsSync(join(folder, path));
  const isFile = (path: string) => statSync(join(folder, path), { throwIfNoEntry: false })?.isFile() === true;
  const bytes = (path: string) => (isFile(path) ? readFileSync(join(folder, path)) : undefined);
  const read = (path: string) => bytes(path)?.toString("utf8");
  const isFolder = (path: string) => statSync(join(folder, path), { throwIfNoEntry: false })?.isDirectory() === true;
  const files: Files = { has, bytes, read, list: (path) => (isFolder(path) ? readdirSync(join(folder, path)) : []) };
  const text = read(FIREBASE_JSON);
  const functionsEntries = functionsEntriesIn(text);
  const allFunctions = tallysFunctionsIn(functionsEntries, files);
  const found = functionsFor(database, allFunctions);
  const firestoreFiles = firestoreFilesIn(text, found.database);
  const rulesText = rulesOrIndexesText({ read, firestoreFiles }, "rules");
  const { databaseEntry } = firestoreFiles;
  const settings = currentSettings({ ...found, allFunctions, databaseEntry, rulesText });
  const sources = [...functionsEntries.map(({ source }) => source), ...allFunctions.map((one) => one.folder)];
  const app = appIn(files, relative(folder, cwd), sources);
  return {
    ...files,
    folder,
    app,
    functionsEntries,
    allFunctions,
    ...found,
    firestoreFiles,
    settings,
  };
}

/** The nearest folder with a `firebase.json`; without one, the folder where the command runs. */
function folderOf(cwd: string): string {
  return projectFolders(cwd).find((folder) => existsSync(join(folder, FIREBASE_JSON))) ?? cwd;
}

/**
 * The nearest package from where the command runs.
 *
 * @param below    where that is, in the folder of the project
 * @param sources  the folders of functions, whose packages are no apps
 */
function appIn(files: Files, below: string, sources: readonly (string | undefined)[]): App {
  let folder = below.replaceAll("\\", "/");
  const isApp = () => files.has(joinPath(folder, MANIFEST)) && !sources.includes(folder);
  while (folder !== "" && !isApp()) folder = dirname(folder) === "." ? "" : dirname(folder);
  const path = joinPath(folder, MANIFEST);
  const manifest = readJson(path, files.read(path) ?? "{}") as Record<string, Record<string, string> | undefined>;
  return {
    folder,
    dependencies: { ...manifest.devDependencies, ...manifest.dependencies },
    has: (name) => files.has(joinPath(folder, name)),
  };
}

/** The rules or the indexes of the database. A file that is new because it was shared with another database begins as a copy. */
export function rulesOrIndexesText(
  { read, firestoreFiles }: Pick<Project, "firestoreFiles" | "read">,
  kind: "rules" | "indexes",
): string | undefined {
  const shared = firestoreFiles.databaseEntry?.[kind];
  return read(firestoreFiles[kind]) ?? (shared === undefined ? undefined : read(shared));
}

/** The path of a file in a folder of the project. */
export function joinPath(folder: string, path: string): string {
  return folder === "" ? path : `${folder}/${path}`;
}

/** What the app is made with, as far as the sample depends on it. */
export type Framework = "React" | "React Native" | "React Native Firebase" | "a browser" | "a server" | "no package";

/** The SDK decides first: pages of a server's app, such as one of Next.js, cannot count without `firebase`. */
export function frameworkOf({ dependencies, has }: Pick<App, "dependencies" | "has">): Framework {
  const uses = (name: string) => Object.hasOwn(dependencies, name);
  if (!has(MANIFEST)) return "no package";
  if (!uses("firebase")) {
    if (Object.keys(dependencies).some((name) => name.startsWith("@react-native-firebase/")))
      return "React Native Firebase";
    if (uses("firebase-admin")) return "a server";
  }
  if (uses("react-native") || uses("expo")) return "React Native";
  return uses("react") ? "React" : "a browser";
}

/** The Firebase CLI. Where the app does not depend on it, npx fetches it: an app that depends on the SDK has another package `firebase`. */
export function firebaseCommand({ dependencies }: Pick<App, "dependencies">): string {
  return Object.hasOwn(dependencies, "firebase-tools") ? "npx firebase" : "npx firebase-tools";
}

/** A Firebase project as it lies in a folder: its files, Tally's functions, and the app in it. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { projectFolders } from "../projectFolders.ts";
import { FIREBASE_JSON, type FunctionsEntry, functionsEntriesIn, type Places, placesIn } from "./firebaseJson.ts";
import { readJson } from "./json.ts";
import type { Files } from "./kitPackage.ts";
import { functionsFor, type TallysFunctions, tallysFunctionsIn } from "./tallysFunctions.ts";

export const MANIFEST = "package.json";

/** The app whose code counts. */
export interface App extends Pick<Project, "dependencies"> {
  /** Relative to the folder of the project; empty if it is the same. */
  readonly folder: string;
  /** @param path  in the folder of the app */
  has(path: string): boolean;
}

export interface Project extends Files {
  /** Where `firebase.json` is, or will be. */
  readonly folder: string;
  readonly app: App;
  /** What the app's package depends on; empty if there is no package. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Of all functions in `firebase.json`. */
  readonly functionsEntries: readonly FunctionsEntry[];
  /** Tally's functions, of each database. */
  readonly allFunctions: readonly TallysFunctions[];
  /** Those that count in the database. */
  readonly functions: TallysFunctions | undefined;
  readonly database: string;
  readonly places: Places;
}

/**
 * @param cwd       where the command runs: in the folder of `firebase.json` or below
 * @param database  the one that is meant; left out, that of Tally's functions
 * @throws CommandError if `firebase.json` cannot be read, or the functions count in another database
 */
export function readProject(cwd: string, database?: string): Project {
  const folder = folderOf(cwd);
  const has = (path: string) => existsSync(join(folder, path));
  const bytes = (path: string) => (has(path) ? readFileSync(join(folder, path)) : undefined);
  const read = (path: string) => bytes(path)?.toString("utf8");
  const isFolder = (path: string) => statSync(join(folder, path), { throwIfNoEntry: false })?.isDirectory() === true;
  const files: Files = { has, bytes, read, list: (path) => (isFolder(path) ? readdirSync(join(folder, path)) : []) };
  const text = read(FIREBASE_JSON);
  const functionsEntries = functionsEntriesIn(text);
  const allFunctions = tallysFunctionsIn(functionsEntries, files);
  const found = functionsFor(database, allFunctions);
  const places = placesIn(text, found.database);
  const sources = [...functionsEntries.map(({ source }) => source), ...allFunctions.map((one) => one.folder)];
  const app = appIn(files, relative(folder, cwd), sources);
  return { ...files, folder, app, dependencies: app.dependencies, functionsEntries, allFunctions, ...found, places };
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
  const isApp = () => files.has(inFolder(folder, MANIFEST)) && !sources.includes(folder);
  while (folder !== "" && !isApp()) folder = dirname(folder) === "." ? "" : dirname(folder);
  const path = inFolder(folder, MANIFEST);
  const manifest = readJson(path, files.read(path) ?? "{}") as Record<string, Record<string, string> | undefined>;
  return {
    folder,
    dependencies: { ...manifest.devDependencies, ...manifest.dependencies },
    has: (name) => files.has(inFolder(folder, name)),
  };
}

/** The rules or the indexes of the database. A file that is new because it was shared with another database begins as a copy. */
export function textAt(
  { read, places }: Pick<Project, "places" | "read">,
  kind: "rules" | "indexes",
): string | undefined {
  const shared = places.entry?.[kind];
  return read(places[kind]) ?? (shared === undefined ? undefined : read(shared));
}

/** The path of a file in a folder of the project. */
export function inFolder(folder: string, path: string): string {
  return folder === "" ? path : `${folder}/${path}`;
}

/** What the app is made with, as far as the sample depends on it. */
export type Framework = "React" | "React Native" | "React Native Firebase" | "a browser" | "a server" | "no package";

/** The SDK decides first: pages of a server's app, such as one of Next.js, cannot count without `firebase`. */
export function frameworkOf({ dependencies, has }: Pick<Project, "dependencies" | "has">): Framework {
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
export function firebaseOf({ dependencies }: Pick<Project, "dependencies">): string {
  return Object.hasOwn(dependencies, "firebase-tools") ? "npx firebase" : "npx firebase-tools";
}

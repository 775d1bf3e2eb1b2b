/** A Firebase project as it lies in a folder: its files, and the framework of its app. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FIREBASE_JSON, type Places, placesIn } from "./firebaseJson.ts";
import { readJson } from "./json.ts";

export interface Project {
  readonly folder: string;
  readonly places: Places;
  /** The text of a file; `undefined` if there is none. */
  read(path: string): string | undefined;
  has(path: string): boolean;
  /** Whether a file has this content. */
  holds(path: string, content: Buffer): boolean;
  /** What the app's package depends on; empty if there is no package. */
  readonly dependencies: Readonly<Record<string, string>>;
}

export const MANIFEST = "package.json";

/** @param database  the one whose rules and indexes are meant */
export function readProject(folder: string, database: string): Project {
  const has = (path: string) => existsSync(join(folder, path));
  const read = (path: string) => (has(path) ? readFileSync(join(folder, path), "utf8") : undefined);
  const manifest = readJson(MANIFEST, read(MANIFEST) ?? "{}") as Record<string, Record<string, string> | undefined>;
  return {
    folder,
    places: placesIn(read(FIREBASE_JSON), database),
    read,
    has,
    holds: (path, content) => has(path) && readFileSync(join(folder, path)).equals(content),
    dependencies: { ...manifest.devDependencies, ...manifest.dependencies },
  };
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

/** The command that installs the app's packages. */
export function installCommand({ has }: Pick<Project, "has">): string {
  const managers = { "pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun" };
  const [, manager = "npm"] = Object.entries(managers).find(([file]) => has(file)) ?? [];
  return `${manager} install`;
}

/** Whether an app has the packages that the client needs, in versions that it works with. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import satisfies from "semver/functions/satisfies.js";
import intersects from "semver/ranges/intersects.js";
import validRange from "semver/ranges/valid.js";
import client from "../../../client/package.json" with { type: "json" };
import { addCommand } from "./packageManager.ts";
import { frameworkOf, joinPath, MANIFEST, type Project } from "./project.ts";

/** Older versions of the Firebase CLI do not know the roles that the functions declare. */
const NEEDED = { ...client.peerDependencies, "firebase-tools": ">=15.23.0" };

/** @returns a note for a missing package, and one for packages that are too old, each with the command that installs them */
export function peerNotes(project: Project): string[] {
  const { app } = project;
  if (!app.has(MANIFEST)) return [];
  const has = (name: string) => Object.hasOwn(app.dependencies, name);
  const missing = has("firebase") || has("firebase-admin") ? [] : [missingNote(project)];
  const old = Object.entries(NEEDED).filter(([name, range]) => has(name) && isIncompatible(project, name, range));
  if (old.length === 0) return missing;
  const found = old.map(([name, range]) => `${name} ${range} (${versionOf(project, name)} is here)`).join(", ");
  const command = addCommand(
    project,
    old.map(([name]) => `${name}@latest`),
  );
  return [...missing, `firestore-tally needs ${found}: ${command}`];
}

function missingNote(project: Project): string {
  const [needed, other] =
    frameworkOf(project.app) === "a server"
      ? ["firebase-admin", "in a page firebase"]
      : ["firebase", "on a server firebase-admin"];
  return `${joinPath(project.app.folder, MANIFEST)} depends neither on firebase nor on firebase-admin: ${addCommand(project, [needed])} (${other})`;
}

/** The installed version decides. Without one, the range in package.json does. A tag or a path is not checked. */
function isIncompatible(project: Project, name: string, needed: string): boolean {
  const installed = installedVersion(project, name);
  if (installed !== undefined) return !satisfies(installed, needed, { includePrerelease: true });
  const range = validRange(project.app.dependencies[name] ?? "");
  return range !== null && !intersects(range, needed, { includePrerelease: true });
}

function versionOf(project: Project, name: string): string | undefined {
  return installedVersion(project, name) ?? project.app.dependencies[name];
}

function installedVersion({ folder, app }: Project, name: string): string | undefined {
  const paths = [join(folder, app.folder), folder].map((root) => join(root, "node_modules", name, MANIFEST));
  const path = paths.find(existsSync);
  return path === undefined ? undefined : JSON.parse(readFileSync(path, "utf8")).version;
}

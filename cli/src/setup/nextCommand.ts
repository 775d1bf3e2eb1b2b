/** The next command after the files have changed: it installs the packages, then starts the emulators or deploys the changes. */
import { type FileChange, realChanges } from "./changes.ts";
import { CODEBASE, DEFAULT_DATABASE } from "./firebaseJson.ts";
import { KIT } from "./kitPackage.ts";
import { installCommand } from "./packageManager.ts";
import { firebaseCommand, joinPath, MANIFEST, type Project } from "./project.ts";
import type { Packaging } from "./tallysFunctions.ts";

/** After the first `init`: installs and starts the emulators, or installs the kit. */
export function firstCommand(project: Project, packaging: Packaging): string {
  if (packaging === "codebase") return tryCommand(project);
  const install = `${firebaseCommand(project.app)} functions:kits:install --package ${KIT}`;
  return [...appInstall(project), install].join(" && ");
}

/** After an `init` that adds the functions to an app that had none: its rules may let clients write shards only if the functions count them. */
export function addCommand(project: Project): string {
  const { app, database } = project;
  const firebase = firebaseCommand(app);
  const firestore = database === DEFAULT_DATABASE ? "firestore" : `firestore:${database}`;
  return [
    ...appInstall(project),
    `npm install --prefix ${CODEBASE}`,
    `${firebase} deploy --only functions:${CODEBASE}`,
    `${firebase} deploy --only ${firestore}`,
  ].join(" && ");
}

function tryCommand(project: Project): string {
  const emulators = `emulators:start${project.has(".firebaserc") ? "" : " --project demo-app"}`;
  return [
    ...appInstall(project),
    `npm install --prefix ${CODEBASE}`,
    `${firebaseCommand(project.app)} ${emulators}`,
  ].join(" && ");
}

/** After later runs: deploys rules, indexes and Tally's functions, since none of them may have been deployed before. */
export function deployCommand(project: Project, all: readonly FileChange[]): string {
  const { app, database, functions } = project;
  const changed = new Set(realChanges(all).map(({ path }) => path));
  const firestore = database === DEFAULT_DATABASE ? "firestore" : `firestore:${database}`;
  const only = [firestore, ...(functions ? [`functions:${functions.name}`] : [])].join(",");
  const isInstalled = functions?.packaging === "codebase" && changed.has(`${functions.folder}/${MANIFEST}`);
  return [
    ...(changed.has(joinPath(app.folder, MANIFEST)) ? appInstall(project) : []),
    ...(isInstalled ? [`npm install --prefix ${functions.folder}`] : []),
    `${firebaseCommand(app)} deploy --only ${only}`,
  ].join(" && ");
}

export function appInstall(project: Project): string[] {
  return project.app.has(MANIFEST) ? [installCommand(project)] : [];
}

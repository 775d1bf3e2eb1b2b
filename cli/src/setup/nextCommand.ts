/** The next command after the files have changed: it installs the packages, then starts the emulators or deploys the changes. */
import { type FileChange, realChanges } from "./changes.ts";
import { CODEBASE, DEFAULT_DATABASE, FIREBASE_JSON } from "./firebaseJson.ts";
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

function tryCommand(project: Project): string {
  const emulators = `emulators:start${project.has(".firebaserc") ? "" : " --project demo-app"}`;
  return [
    ...appInstall(project),
    `npm install --prefix ${CODEBASE}`,
    `${firebaseCommand(project.app)} ${emulators}`,
  ].join(" && ");
}

/** After later runs: deploys what has changed. If nothing has changed, deploys everything. */
export function deployCommand(project: Project, all: readonly FileChange[]): string {
  const { app, database, functions, firestoreFiles } = project;
  const changed = new Set(realChanges(all).map(({ path }) => path));
  const has = (path: string) => changed.has(path);
  const [rules, indexes] = [has(firestoreFiles.rules), has(firestoreFiles.indexes)];
  const folder = functions?.folder;
  const isCodeChanged = [...changed].some((path) => folder !== undefined && path.startsWith(`${folder}/`));
  const firestore =
    database === DEFAULT_DATABASE ? (rules && indexes ? "" : rules ? ":rules" : ":indexes") : `:${database}`;
  const only = [
    ...(rules || indexes ? [`firestore${firestore}`] : []),
    ...(isCodeChanged || (has(FIREBASE_JSON) && functions) ? [`functions:${functions?.name}`] : []),
  ];
  const isInstalled = functions?.packaging === "codebase" && has(`${folder}/${MANIFEST}`);
  return [
    ...(has(joinPath(app.folder, MANIFEST)) ? appInstall(project) : []),
    ...(isInstalled ? [`npm install --prefix ${folder}`] : []),
    `${firebaseCommand(app)} deploy${only.length === 0 ? "" : ` --only ${only.join(",")}`}`,
  ].join(" && ");
}

export function appInstall(project: Project): string[] {
  return project.app.has(MANIFEST) ? [installCommand(project)] : [];
}

/** `npx firestore-tally upgrade`: brings rules, indexes, functions and client of a project to this version. The policy stays. */
import { CommandError, FAILED } from "../commandError.ts";
import type { FileChange } from "./changes.ts";
import { CLIENT, clientVersion, codebaseFiles, KIT, kitVersion, withDependency } from "./codebase.ts";
import { completeDotenv, editionIn } from "./dotenv.ts";
import { CODEBASE, FIREBASE_JSON } from "./firebaseJson.ts";
import { addIndexes, indexesOf } from "./indexesJson.ts";
import { PAGES, packaged, VERSION } from "./packaged.ts";
import { firebaseOf, installCommand, MANIFEST, type Project, readProject } from "./project.ts";
import { changesFor } from "./releases.ts";
import { collectionIn, upgradeRules } from "./rules/compose.ts";
import { findBlock } from "./rules/markers.ts";
import { carryOut, type Plan, type SetupOptions } from "./setup.ts";

export interface UpgradeOptions extends SetupOptions {
  readonly database?: string;
  /** A folder with the tarballs of both packages. */
  readonly packages?: string;
}

export async function upgrade(options: UpgradeOptions): Promise<void> {
  const project = readProject(process.cwd(), options.database ?? "(default)");
  await carryOut(project.folder, planUpgrade(project, options.packages), options);
}

/** @throws CommandError if `init` has not been here, or the rules' markers are damaged */
export function planUpgrade(project: Project, packages?: string): Plan {
  const { places, read } = project;
  const before = read(places.rules) ?? "";
  const rules = upgradeRules(before, packaged("firestore.rules"), VERSION);
  if ("refused" in rules) throw new CommandError(FAILED, `${places.rules}: ${rules.refused}`);
  const from = findBlock(before)?.version ?? VERSION;
  const collection = collectionIn(before);
  const indexes = addIndexes(
    places.indexes,
    read(places.indexes),
    indexesOf(packaged("firestore.indexes.json"), collection, editionIn(project)),
  );
  const codebase = codebaseChanges(project, packages);
  const clients = changesFor(from, VERSION);
  return {
    changes: [
      { path: places.rules, before, after: rules.text },
      { path: places.indexes, before: read(places.indexes), after: indexes.text },
      ...codebase.changes,
      ...clientChanges(project, packages),
    ],
    first:
      clients.length > 0
        ? `What changes for clients of before: ${clients.join(" ")}`
        : `Clients of ${from} go on as before.`,
    notes: [...rules.warnings.map((warning) => `${places.rules}: ${warning}`), ...codebase.notes],
    next: nextCommand(project),
    page: `${PAGES}/setup.md#upgrade`,
  };
}

/** The kit's version, and a line for each parameter that is new. */
function codebaseChanges({ places, read, holds }: Project, packages: string | undefined) {
  const { codebase } = places;
  const changes: FileChange[] = [];
  const notes: string[] = [];
  if (codebase === undefined) {
    notes.push(`${FIREBASE_JSON} has no codebase of Tally: a kit or an extension is renewed by the Firebase CLI`);
    return { changes, notes };
  }
  const manifest = read(`${codebase}/package.json`) ?? "{}";
  const after = withDependency(manifest, KIT, kitVersion(packages));
  changes.push({ path: `${codebase}/package.json`, before: manifest, after });
  for (const [name, content] of codebaseFiles(packages)) {
    const path = `${codebase}/${name}`;
    if (typeof content === "object" && !holds(path, content)) changes.push({ path, before: undefined, after: content });
  }
  const env = read(`${codebase}/.env`) ?? "";
  const { text, added, unknown } = completeDotenv(env, VERSION);
  changes.push({ path: `${codebase}/.env`, before: env, after: text });
  if (added.length > 0) notes.push(`${codebase}/.env has new parameters, with their defaults: ${added.join(", ")}`);
  if (unknown.length > 0) notes.push(`${codebase}/.env sets what is no parameter of ${VERSION}: ${unknown.join(", ")}`);
  return { changes, notes };
}

function clientChanges(project: Project, packages: string | undefined): FileChange[] {
  const before = project.read(MANIFEST);
  if (before === undefined || !(CLIENT in project.dependencies)) return [];
  return [
    {
      path: MANIFEST,
      before,
      after: withDependency(before, CLIENT, clientVersion(project.places.codebase ?? CODEBASE, packages)),
    },
  ];
}

function nextCommand(project: Project): string {
  const { codebase } = project.places;
  const install = project.has(MANIFEST) ? [installCommand(project)] : [];
  const functions = codebase === undefined ? [] : [`npm install --prefix ${codebase}`];
  return [...install, ...functions, `${firebaseOf(project)} deploy`].join(" && ");
}

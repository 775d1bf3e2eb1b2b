/** `npx firestore-tally remove`: takes Tally out of a project again. The counters stay. */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CommandError, FAILED } from "../commandError.ts";
import type { FileChange } from "./changes.ts";
import { CLIENT, isTarball } from "./codebase.ts";
import { editionIn } from "./dotenv.ts";
import { FIREBASE_JSON, removeFromFirebaseJson } from "./firebaseJson.ts";
import { indexesOf, removeIndexes } from "./indexesJson.ts";
import { removeIn } from "./json.ts";
import { PAGES, packaged } from "./packaged.ts";
import { firebaseOf, installCommand, MANIFEST, type Project, readProject } from "./project.ts";
import { collectionIn, removeRules } from "./rules/compose.ts";
import { carryOut, type Plan, type SetupOptions } from "./setup.ts";

export interface RemoveOptions extends SetupOptions {
  readonly database?: string;
}

export async function remove(options: RemoveOptions): Promise<void> {
  const project = readProject(process.cwd(), options.database ?? "(default)");
  await carryOut(project.folder, planRemove(project), options);
  removeInstalled(project);
}

/** @throws CommandError if the rules' markers are damaged */
export function planRemove(project: Project): Plan {
  const { places, read } = project;
  const collection = collectionIn(read(places.rules));
  const changes: FileChange[] = [];
  const change = (path: string, edit: (text: string) => string | undefined) => {
    const before = read(path);
    if (before !== undefined) changes.push({ path, before, after: edit(before) });
  };
  change(places.rules, (text) => {
    const rules = removeRules(text);
    if ("refused" in rules) throw new CommandError(FAILED, `${places.rules}: ${rules.refused}`);
    return rules.text;
  });
  const tally = indexesOf(packaged("firestore.indexes.json"), collection, editionIn(project));
  change(places.indexes, (text) => removeIndexes(places.indexes, text, tally));
  change(FIREBASE_JSON, removeFromFirebaseJson);
  change(MANIFEST, (text) => (CLIENT in project.dependencies ? removeIn(text, ["dependencies", CLIENT]) : text));
  for (const path of codebaseFilesOf(project)) change(path, () => undefined);
  return {
    changes,
    notes: [
      `the counters stay: the sum of \`count\` over ${collection}/{id}/shards is the total, as in Firebase's documented recipe. ` +
        "Clients may read them if your rules allow it. They cost their storage. To delete them, run `npx firestore-tally delete` before you delete the functions",
      "your app's own code still imports firestore-tally: take these imports out",
    ],
    next: [
      ...(project.has(MANIFEST) ? [installCommand(project)] : []),
      `${firebaseOf(project)} deploy --only firestore`,
    ].join(" && "),
    page: `${PAGES}/setup.md#remove`,
  };
}

/** What npm has installed for the codebase, if nothing else is left of its folder. */
function removeInstalled({ folder, places }: Project): void {
  const codebase = places.codebase && join(folder, places.codebase);
  if (!codebase || !existsSync(codebase)) return;
  if (readdirSync(codebase).every((name) => name === "node_modules")) rmSync(codebase, { recursive: true });
}

/** The files of the codebase that are Tally's. */
function codebaseFilesOf({ folder, places, has }: Project): string[] {
  const { codebase } = places;
  if (codebase === undefined || !has(codebase)) return [];
  const isTallys = (name: string) =>
    ["package.json", "package-lock.json", "index.js"].includes(name) || name.startsWith(".env") || isTarball(name);
  return readdirSync(join(folder, codebase))
    .filter(isTallys)
    .map((name) => `${codebase}/${name}`);
}

/** `npx firestore-tally remove`: removes Tally from a project, and nothing else. The counters stay. */
import { CommandError, FAILED } from "../commandError.ts";
import { carryOut, type Plan, type SetupOptions } from "./carryOut.ts";
import { type FileChange, realChanges, textChange } from "./changes.ts";
import type { ChangesWithNotes } from "./codebase.ts";
import { DEFAULT_DATABASE, FIREBASE_JSON, removeFromFirebaseJson } from "./firebaseJson.ts";
import { removeIndexes, staleIndexes } from "./indexesJson.ts";
import { removeIn } from "./json.ts";
import { CLIENT, foreignFilesIn, INDEX, KIT } from "./kitPackage.ts";
import { appInstall } from "./nextCommand.ts";
import { PAGES, packaged } from "./packaged.ts";
import { firebaseCommand, joinPath, MANIFEST, type Project, readProject } from "./project.ts";
import { removeRules } from "./rules/compose.ts";
import { hasRules, withClosedRules } from "./rules/skeleton.ts";

export interface RemoveOptions extends SetupOptions {
  readonly database?: string;
}

export async function remove(options: RemoveOptions): Promise<void> {
  const project = readProject(process.cwd(), options.database);
  await carryOut(project.folder, planRemove(project), options);
}

/** @throws CommandError if the rules' markers are damaged, or the app's rules call functions of Tally */
export function planRemove(project: Project): Plan {
  const { app, database, firestoreFiles, read } = project;
  const { collection, values } = project.settings;
  const notes: string[] = [];
  const change = (path: string, edit: (text: string) => string): FileChange[] => {
    const before = read(path);
    return before === undefined ? [] : [textChange(path, before, edit(before))];
  };
  const collections = [collection, values.COLLECTION ?? collection];
  const tally = staleIndexes(packaged("firestore.indexes.json"), collections, { indexes: [], fieldOverrides: [] });
  const indexes = change(firestoreFiles.indexes, (text) => removeIndexes(firestoreFiles.indexes, text, tally));
  const rules = change(firestoreFiles.rules, (text) => {
    const removed = removeRules(text);
    if ("refused" in removed) throw new CommandError(FAILED, `${firestoreFiles.rules}: ${removed.refused}`);
    notes.push(...removed.warnings.map((warning) => `${firestoreFiles.rules}: ${warning}`));
    if (hasRules(removed.text)) return removed.text;
    notes.push(
      `${firestoreFiles.rules} has no rules of yours, so it now lets no client read or write: write yours before you deploy`,
    );
    return withClosedRules(removed.text);
  });
  const client = change(joinPath(app.folder, MANIFEST), (text) =>
    removeIn(removeIn(text, ["dependencies", CLIENT]), ["devDependencies", CLIENT]),
  );
  const code = functionsChanges(project);
  // The rules record the collection. A run that resumes needs it for the indexes, so the indexes change first.
  const changes = [...indexes, ...rules, ...client, ...code.changes];
  const readOn = `${PAGES}/setup.md#remove`;
  notes.push(...code.notes);
  if (realChanges(changes).length === 0) return { changes, notes, nextCommand: undefined, readOn };
  notes.push(
    `the counters stay in ${collection}, and cost their storage: to delete them, run \`npx firestore-tally delete\` before you delete the functions. ` +
      `To read them without Tally, see ${readOn}`,
  );
  if (CLIENT in app.dependencies)
    notes.push("your app's own code still imports firestore-tally: take these imports out");
  const only = database === DEFAULT_DATABASE ? "firestore" : `firestore:${database}`;
  return {
    changes,
    notes,
    nextCommand: [...appInstall(project), `${firebaseCommand(app)} deploy --only ${only}`].join(" && "),
    readOn,
  };
}

/**
 * Deletes the folder of the codebase and its entry, if the folder has only Tally's files. Otherwise the whole folder stays, because half a
 * codebase does not deploy. The entry is removed first: a killed run that resumes finds the folder by its content.
 */
function functionsChanges(project: Project): ChangesWithNotes {
  const { functions, app, has, read, settings } = project;
  if (functions === undefined && settings.rules?.hasFunctions === false) return { changes: [], notes: [] };
  if (functions === undefined)
    return {
      changes: [],
      notes: [`${FIREBASE_JSON} has no codebase of Tally: functions stay as they are`],
    };
  const { packaging, name, folder, position } = functions;
  if (packaging === "kit")
    return {
      changes: [],
      notes: [
        `Tally's functions are the kit ${name}: remove them with \`${firebaseCommand(app)} functions:kits:uninstall --instance ${name}\``,
      ],
    };
  const foreign = foreignFilesIn(project, folder);
  if (foreign.length > 0)
    return {
      changes: [],
      notes: [
        `${folder}/ stays, because it has more than Tally's files: ${foreign.join(", ")}. Take out by hand: \`${INDEX.trim()}\` from its code, ` +
          `${KIT} from ${folder}/package.json, Tally's parameters from ${folder}/.env; or delete the folder and its entry in ${FIREBASE_JSON}`,
      ],
    };
  const firebaseJson = read(FIREBASE_JSON);
  const changes: FileChange[] =
    firebaseJson === undefined || position === undefined
      ? []
      : [textChange(FIREBASE_JSON, firebaseJson, removeFromFirebaseJson(firebaseJson, position))];
  const deployed = `deployed functions stay until you run \`${firebaseCommand(app)} functions:delete ${name}\``;
  return {
    changes: has(folder) ? [...changes, { kind: "deletion", path: folder, isFolder: true }] : changes,
    notes: [deployed],
  };
}

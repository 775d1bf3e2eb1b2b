/** `npx firestore-tally remove`: takes Tally out of a project again, and nothing else. The counters stay. */
import { CommandError, FAILED } from "../commandError.ts";
import { type FileChange, realChanges } from "./changes.ts";
import { DEFAULT_DATABASE, FIREBASE_JSON, removeFromFirebaseJson } from "./firebaseJson.ts";
import { removeIndexes, staleIndexes } from "./indexesJson.ts";
import { removeIn } from "./json.ts";
import { CLIENT, INDEX, KIT, ownIn } from "./kitPackage.ts";
import { appInstall } from "./nextCommand.ts";
import { PAGES, packaged } from "./packaged.ts";
import { presentIn } from "./present.ts";
import { firebaseOf, inFolder, MANIFEST, type Project, readProject } from "./project.ts";
import { removeRules } from "./rules/compose.ts";
import { hasCode, withClosedRules } from "./rules/skeleton.ts";
import { carryOut, type Plan, type SetupOptions } from "./setup.ts";

export interface RemoveOptions extends SetupOptions {
  readonly database?: string;
}

export async function remove(options: RemoveOptions): Promise<void> {
  const project = readProject(process.cwd(), options.database);
  await carryOut(project.folder, planRemove(project), options);
}

/** @throws CommandError if the rules' markers are damaged, or the app's rules need what would go */
export function planRemove(project: Project): Plan {
  const { app, database, places, read } = project;
  const { collection, values } = presentIn(project);
  const notes: string[] = [];
  const change = (path: string, edit: (text: string) => string | undefined): FileChange[] => {
    const before = read(path);
    return before === undefined ? [] : [{ path, before, after: edit(before) }];
  };
  const collections = [collection, values.COLLECTION ?? collection];
  const tally = staleIndexes(packaged("firestore.indexes.json"), collections, { indexes: [], fieldOverrides: [] });
  const indexes = change(places.indexes, (text) => removeIndexes(places.indexes, text, tally));
  const rules = change(places.rules, (text) => {
    const removed = removeRules(text);
    if ("refused" in removed) throw new CommandError(FAILED, `${places.rules}: ${removed.refused}`);
    notes.push(...removed.warnings.map((warning) => `${places.rules}: ${warning}`));
    if (hasCode(removed.text)) return removed.text;
    notes.push(
      `${places.rules} has no rules of yours, so it now lets no client read or write: write yours before you deploy`,
    );
    return withClosedRules(removed.text);
  });
  const client = change(inFolder(app.folder, MANIFEST), (text) =>
    removeIn(removeIn(text, ["dependencies", CLIENT]), ["devDependencies", CLIENT]),
  );
  const code = functionsChanges(project);
  // The rules tell the collection of the indexes, so they come after them.
  const changes = [...indexes, ...rules, ...client, ...code.changes];
  const page = `${PAGES}/setup.md#remove`;
  notes.push(...code.notes);
  if (realChanges(changes).length === 0) return { changes, notes, next: undefined, page };
  notes.push(
    `the counters stay in ${collection}, and cost their storage: to delete them, run \`npx firestore-tally delete\` before you delete the functions. ` +
      `To read them without Tally, see ${page}`,
  );
  if (CLIENT in app.dependencies)
    notes.push("your app's own code still imports firestore-tally: take these imports out");
  const only = database === DEFAULT_DATABASE ? "firestore" : `firestore:${database}`;
  return {
    changes,
    notes,
    next: [...appInstall(project), `${firebaseOf(app)} deploy --only ${only}`].join(" && "),
    page,
  };
}

/**
 * The folder of the codebase and its entry, if the folder has only Tally's files. Half a codebase does not deploy, so with anything of the
 * developer's own the folder stays whole. The entry goes first: a folder without an entry is still found by what is in it.
 */
function functionsChanges(project: Project): { changes: FileChange[]; notes: string[] } {
  const { functions, app, has, read } = project;
  if (functions === undefined)
    return {
      changes: [],
      notes: [`${FIREBASE_JSON} has no codebase of Tally: functions stay as they are`],
    };
  const { packaging, name, folder, entry } = functions;
  if (packaging === "kit")
    return {
      changes: [],
      notes: [
        `Tally's functions are the kit ${name}: remove them with \`${firebaseOf(app)} functions:kits:uninstall --instance ${name}\``,
      ],
    };
  const own = ownIn(project, folder);
  if (own.length > 0)
    return {
      changes: [],
      notes: [
        `${folder}/ stays, because it has more than Tally's files: ${own.join(", ")}. Take out by hand: \`${INDEX.trim()}\` from its code, ` +
          `${KIT} from ${folder}/package.json, Tally's parameters from ${folder}/.env; or delete the folder and its entry in ${FIREBASE_JSON}`,
      ],
    };
  const firebaseJson = read(FIREBASE_JSON);
  const changes: FileChange[] =
    firebaseJson === undefined || entry === undefined
      ? []
      : [{ path: FIREBASE_JSON, before: firebaseJson, after: removeFromFirebaseJson(firebaseJson, entry) }];
  const deployed = `deployed functions stay until you run \`${firebaseOf(app)} functions:delete ${name}\``;
  return {
    changes: has(folder) ? [...changes, { path: folder, before: "", after: undefined }] : changes,
    notes: [deployed],
  };
}

/** The notes of `init`: each names something that the developer has to do. */
import { COUNTING_DEFAULTS } from "../../../functions/src/deploy/parameters.ts";
import type { TextChange } from "./changes.ts";
import type { Choice } from "./choice.ts";
import { contradictionsIn } from "./currentSettings.ts";
import { type Values, valuesIn } from "./dotenv.ts";
import { DEFAULT_DATABASE, FIREBASE_JSON } from "./firebaseJson.ts";
import { PAGES } from "./packaged.ts";
import { type Framework, firebaseCommand, MANIFEST, type Project, rulesOrIndexesText } from "./project.ts";
import { hasRules } from "./rules/skeleton.ts";

export function projectNotes(project: Project): string[] {
  const { app, has, firestoreFiles, folder } = project;
  const notes: string[] = [];
  if (!has(FIREBASE_JSON))
    notes.push(
      `${FIREBASE_JSON} will be created in ${folder}. If that is not your project's folder, run init in the right one`,
    );
  if (!app.has(MANIFEST) && project.functions?.position === undefined)
    notes.push(
      `there is no ${MANIFEST} in ${folder}: for the client and its first calls, run init in your app's folder, too`,
    );
  const rules = rulesOrIndexesText(project, "rules");
  if (rules === undefined || !hasRules(rules))
    notes.push(
      `${firestoreFiles.rules} has no rules yet. For a new project that is right. Only if the Firebase console shows rules of yours for this ` +
        `database, keep them: answer no, run \`${firebaseCommand(app)} init firestore\`, which downloads them, and run this again. A deployment ` +
        "replaces the rules in the console with the file",
    );
  if (firestoreFiles.sharedWith.length > 0)
    notes.push(
      `${firestoreFiles.rules} also holds the rules of the database ${firestoreFiles.sharedWith.join(", ")}, so clients can write counters there, too. ` +
        `Give each database its own rules file in ${FIREBASE_JSON}`,
    );
  return notes;
}

export function databaseNotes(
  project: Project,
  { database, databaseSettings, edition, collection, changedParameters }: Choice,
): string[] {
  const { app, firestoreFiles } = project;
  const present = project.settings;
  const notes: string[] = [];
  const { location } = databaseSettings;
  if (database !== DEFAULT_DATABASE && firestoreFiles.databaseEntry === undefined)
    notes.push(
      `the Firebase CLI creates only the first database of ${FIREBASE_JSON}. If ${database} does not exist yet, run ` +
        `\`${firebaseCommand(app)} firestore:databases:create ${database} --location ${location ?? present.location} --edition ${edition}\` before you deploy`,
    );
  if (!present.hasFunctionsEntry) return notes;
  if (location !== undefined && location !== firestoreFiles.databaseEntry?.location)
    notes.push(`an existing database cannot move. Check that yours is in ${location}`);
  const { LOCATION: from } = present.values;
  const { LOCATION: to = from } = changedParameters;
  if (from !== undefined && to !== from)
    notes.push(`the next deployment moves the functions from ${from} to ${to}. Let it delete the old ones`);
  if (databaseSettings.edition !== undefined && databaseSettings.edition !== present.edition)
    notes.push(`an existing database cannot change its edition. Check that yours is ${databaseSettings.edition}`);
  if (collection !== present.collection)
    notes.push(
      `counters stay in ${present.collection}, and ${collection} begins empty: clients and servers must pass { collection: "${collection}" } from now on`,
    );
  return notes;
}

/** Contradictions that are left, and files that hide the parameters. @param env  the change of the file of parameters */
export function parameterNotes(project: Project, choice: Choice, env: TextChange): string[] {
  const { firestoreFiles, list, read } = project;
  const { path, before, after } = env;
  const folder = path.slice(0, path.lastIndexOf("/"));
  const databaseSettings = { ...firestoreFiles.databaseEntry, ...choice.databaseSettings };
  const others = list(folder)
    .map((name) => `${folder}/${name}`)
    .filter((other) => other.startsWith(`${folder}/.env.`) && other !== path);
  const isIgnored = before === undefined && isIgnoredByGit(project, path);
  return [
    ...contradictionsIn({ rules: choice, databaseSettings, values: valuesIn(after) }, path),
    ...others.flatMap((other) => overridesIn(other, path, valuesIn(read(other) ?? ""), choice.changedParameters)),
    ...(isIgnored ? [`.gitignore leaves ${path} out, which CI needs: git add --force ${path}`] : []),
  ];
}

function overridesIn(path: string, env: string, values: Values, changed: Values): string[] {
  const names = Object.keys(changed).filter((name) => values[name] !== undefined && values[name] !== changed[name]);
  return names.map(
    (name) => `${path} overrides ${env} with ${name}=${values[name]}. Change it to ${changed[name]} there, too`,
  );
}

/** @param path  of the sample */
export function sampleNotes(path: string, framework: Framework): string[] {
  const connect = `before you try it, connect your page to the emulators: ${PAGES}/setup.md#on-the-emulators`;
  return [`${path} has your first calls: ${callsOf(path)}`, ...(framework === "a server" ? [] : [connect])];
}

/** How the app uses its sample. */
function callsOf(path: string): string {
  if (path.endsWith("x")) return 'show <Views page="home" /> and <LikeButton post="42" /> where you want them';
  return "call countView(page) where a page opens, and like(post) where a user likes";
}

/** The parameters of a kit that the developer must enter: the CLI asks for them at installation. */
export function kitNotes({ functions }: Project, { changedParameters, initialParameters }: Choice): string[] {
  const listOf = (values: Values) => Object.entries(values).map(([name, value]) => `${name}=${value}`);
  if (functions !== undefined) {
    const list = listOf(changedParameters).join(", ");
    return list === ""
      ? []
      : [`${functions.folder}/ has no file of parameters for all projects: set ${list} in each of its files`];
  }
  const defaults: Values = COUNTING_DEFAULTS;
  const others = Object.entries(initialParameters).filter(
    ([name, value]) => name === "LOCATION" || value !== defaults[name],
  );
  const answers = [`FUNCTION_DEFAULT_REGION=${initialParameters.LOCATION}`, ...listOf(Object.fromEntries(others))];
  return [
    `the Firebase CLI asks for the kit's parameters: answer ${answers.join(", ")}, and take the defaults of the others`,
  ];
}

/** Whether git ignores the file of parameters, as the Firebase CLI's own `.gitignore` has it. */
function isIgnoredByGit({ read }: Project, path: string): boolean {
  const lines = (read(".gitignore") ?? "").split(/\r?\n/).map((line) => line.trim());
  return lines.some((line) => [".env", ".env*", "*.env", path].includes(line));
}

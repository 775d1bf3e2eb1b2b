/**
 * `npx firestore-tally init`: adds Tally to a Firebase project. Rules, indexes, `firebase.json`, the folder of the functions with all
 * parameters, and the app's first calls. A second run with the same choice changes nothing.
 */
import { CommandError, FAILED, WRONG_USAGE } from "../commandError.ts";
import type { FileChange } from "./changes.ts";
import { type Choice, type ChoiceOptions, choose } from "./choice.ts";
import { CLIENT, clientVersion, codebaseFiles, KIT, withDependency } from "./codebase.ts";
import { editionIn, newDotenv } from "./dotenv.ts";
import { addToFirebaseJson, CODEBASE, FIREBASE_JSON } from "./firebaseJson.ts";
import { addIndexes, indexesOf } from "./indexesJson.ts";
import { PAGES, packaged, VERSION } from "./packaged.ts";
import { firebaseOf, frameworkOf, installCommand, MANIFEST, type Project, readProject } from "./project.ts";
import { addRules, readChoice } from "./rules/compose.ts";
import { sampleFor } from "./sample.ts";
import { carryOut, type Plan, type SetupOptions } from "./setup.ts";

export interface InitOptions extends ChoiceOptions, SetupOptions {
  /** A folder with the tarballs of both packages. */
  readonly packages?: string;
}

export async function init(options: InitOptions): Promise<void> {
  const project = readProject(process.cwd(), options.database ?? "(default)");
  if (!project.has(FIREBASE_JSON) && !project.has(MANIFEST))
    throw new CommandError(
      WRONG_USAGE,
      `there is neither ${FIREBASE_JSON} nor ${MANIFEST} here; run init in your project's folder`,
    );
  const current = readChoice(project.read(project.places.rules) ?? "");
  const edition = options.edition ?? editionIn(project);
  const choice = await choose({ ...options, edition }, !options.yes && process.stdin.isTTY === true, current);
  await carryOut(project.folder, planInit(project, choice, options.packages), options);
}

/** @throws CommandError if a file cannot be changed */
export function planInit(project: Project, choice: Choice, packages?: string): Plan {
  const { places, read } = project;
  const { collection, database, edition } = choice;
  const notes: string[] = [];
  const rules = addRules(read(places.rules), packaged("firestore.rules"), VERSION, choice);
  if ("refused" in rules) throw new CommandError(FAILED, `${places.rules}: ${rules.refused}`);
  notes.push(...rules.warnings.map((warning) => `${places.rules}: ${warning}`));
  const tally = indexesOf(packaged("firestore.indexes.json"), collection, edition);
  const indexes = addIndexes(places.indexes, read(places.indexes), tally);
  if (indexes.differing.length > 0)
    notes.push(
      `${places.indexes} has overrides of its own for ${indexes.differing.join(", ")}; Tally needs no index of them, and a busy ` +
        `counter takes fewer writes with one: ${PAGES}/configuration.md#rules-and-indexes`,
    );
  const changes: FileChange[] = [
    { path: places.rules, before: read(places.rules), after: rules.text },
    { path: places.indexes, before: read(places.indexes), after: indexes.text },
    {
      path: FIREBASE_JSON,
      before: read(FIREBASE_JSON),
      after: addToFirebaseJson(read(FIREBASE_JSON), {
        database,
        edition,
        hasCodebase: choice.packaging === "codebase",
      }),
    },
    ...codebaseChanges(project, choice, packages),
    ...appChanges(project, choice, packages),
  ];
  const sample = changes.find(({ path, before }) => before === undefined && /(^|\/)counters\.[jt]sx?$/.test(path));
  if (sample) notes.push(`${sample.path} has your first calls: ${callsOf(sample.path)}`);
  if (read(FIREBASE_JSON) === undefined)
    notes.push(`there was no ${FIREBASE_JSON} here; is this your project's folder?`);
  if (isIgnored(project) && changes.some(({ path }) => path === `${CODEBASE}/.env`))
    notes.push(`.gitignore leaves ${CODEBASE}/.env out, which CI needs: git add --force ${CODEBASE}/.env`);
  return { changes, notes, next: nextCommand(project, choice), page: `${PAGES}/setup.md#what-you-will-see` };
}

function codebaseChanges({ places, read, has }: Project, choice: Choice, packages: string | undefined): FileChange[] {
  if (choice.packaging === "kit" && packages !== undefined)
    throw new CommandError(WRONG_USAGE, "--packages goes with --as codebase: the Firebase CLI takes a kit from npm");
  if (choice.packaging === "kit" || places.codebase !== undefined) return [];
  if (has(`${CODEBASE}/package.json`))
    throw new CommandError(
      FAILED,
      `there is a package in ${CODEBASE}/ that is no codebase of ${FIREBASE_JSON}; rename its folder`,
    );
  const env = newDotenv({
    LOCATION: choice.location,
    DATABASE_ID: choice.database,
    EDITION: choice.edition,
    COLLECTION: choice.collection,
    ...(choice.visitors.length > 0 && { VISITORS: "yes" }),
  });
  const files = [...codebaseFiles(packages), [".env", env] as const];
  return files.map(([path, after]) => ({ path: `${CODEBASE}/${path}`, before: read(`${CODEBASE}/${path}`), after }));
}

/** The client package, and its first calls. */
function appChanges(project: Project, choice: Choice, packages: string | undefined): FileChange[] {
  const manifest = project.read(MANIFEST);
  if (manifest === undefined || CLIENT in project.dependencies) return [];
  const { database, collection } = choice;
  const sample = sampleFor(project, { views: choice.open[0], likes: choice.once[0], database, collection });
  return [
    {
      path: MANIFEST,
      before: manifest,
      after: withDependency(manifest, CLIENT, clientVersion(CODEBASE, packages)),
    },
    ...("path" in sample ? [{ path: sample.path, before: undefined, after: sample.text }] : []),
  ];
}

function nextCommand(project: Project, choice: Choice): string {
  const install = frameworkOf(project) === "no package" ? [] : [installCommand(project)];
  const functions =
    choice.packaging === "kit"
      ? `${firebaseOf(project)} functions:kits:install --package ${KIT}`
      : `npm install --prefix ${CODEBASE} && ${firebaseOf(project)} emulators:start${project.has(".firebaserc") ? "" : " --project demo-app"}`;
  return [...install, functions].join(" && ");
}

/** How the app uses its sample. */
function callsOf(path: string): string {
  if (path.endsWith("x")) return 'show <Views page="home" /> and <LikeButton post="42" /> where you want them';
  return "call countView(page) where a page opens, and like(post) where a user likes";
}

/** Whether git ignores the file of parameters, as the Firebase CLI's own `.gitignore` has it. */
function isIgnored({ read }: Project): boolean {
  const lines = (read(".gitignore") ?? "").split(/\r?\n/).map((line) => line.trim());
  return lines.some((line) => [".env", ".env*", "*.env", `${CODEBASE}/.env`].includes(line));
}

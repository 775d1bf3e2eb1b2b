/**
 * `npx firestore-tally init`: adds Tally to a Firebase project. Rules, indexes, `firebase.json`, the folder of the functions with all
 * parameters, and the app's first calls. A second run with the same choice changes nothing but what is missing or damaged.
 */
import { CommandError, FAILED, WRONG_USAGE } from "../commandError.ts";
import { carryOut, type Plan, type SetupOptions } from "./carryOut.ts";
import { type FileChange, textChange } from "./changes.ts";
import { type Choice, type ChoiceOptions, choose } from "./choice.ts";
import {
  type ChangesWithNotes,
  clientTarball,
  clientVersion,
  codebaseChanges,
  unusedTarball,
  withDependency,
} from "./codebase.ts";
import { withValues } from "./dotenv.ts";
import { addToFirebaseJson, CODEBASE, FIREBASE_JSON } from "./firebaseJson.ts";
import { addIndexes, indexesOf, leaderboardIndex, removeIndexes, staleIndexes } from "./indexesJson.ts";
import { databaseNotes, kitNotes, parameterNotes, projectNotes, sampleNotes } from "./initNotes.ts";
import { CLIENT, foreignFilesIn, hasForeignCode, KIT } from "./kitPackage.ts";
import { addCommand, deployCommand, firstCommand } from "./nextCommand.ts";
import { PAGES, packaged, VERSION } from "./packaged.ts";
import { peerNotes } from "./peers.ts";
import { frameworkOf, joinPath, MANIFEST, type Project, readProject, rulesOrIndexesText } from "./project.ts";
import { addRules } from "./rules/compose.ts";
import { sampleFor } from "./sample.ts";

export interface InitOptions extends ChoiceOptions, SetupOptions {
  /** A folder with the tarballs of both packages. */
  readonly packages?: string;
}

export async function init(options: InitOptions): Promise<void> {
  const ask = !options.yes && process.stdin.isTTY === true;
  const { folder, plan } = await prepareInit(process.cwd(), options, ask);
  await carryOut(folder, plan, options);
}

/**
 * @param cwd  where the command runs
 * @throws CommandError if a file cannot be changed, or an option cannot be fulfilled
 */
export async function prepareInit(
  cwd: string,
  options: InitOptions,
  ask: boolean,
): Promise<{ folder: string; plan: Plan }> {
  const project = readProject(cwd, options.database);
  const { folder } = project;
  if (!project.has(FIREBASE_JSON) && !project.app.has(MANIFEST))
    throw new CommandError(
      WRONG_USAGE,
      `neither ${FIREBASE_JSON} nor ${MANIFEST} is in ${folder}, and no ${FIREBASE_JSON} is above. Run init in your project's folder`,
    );
  if (options.withoutFunctions) refuseServer(project);
  else refuseForeignFolder(project, options.as);
  const choice = await choose(options, ask, project.settings);
  return { folder, plan: planInit(project, choice, options.packages) };
}

function planInit(project: Project, choice: Choice, packages?: string): Plan {
  const { firestoreFiles, read, functions, settings } = project;
  const { hasFunctions } = choice;
  if (choice.packaging === "kit" && packages !== undefined)
    throw new CommandError(
      WRONG_USAGE,
      "--packages works only with --as codebase, because a kit is installed from npm",
    );
  const rules = addRules(rulesOrIndexesText(project, "rules"), packaged("firestore.rules"), VERSION, choice);
  if ("refused" in rules) throw new CommandError(FAILED, `${firestoreFiles.rules}: ${rules.refused}`);
  const indexes = indexChanges(project, choice);
  const code = hasFunctions
    ? functionsChanges(project, choice, packages)
    : clientTarball(project, project.app.folder, packages);
  const client = appChanges(project, choice, packages);
  const isForeign = functions?.position !== undefined && hasForeignCode(project, functions.folder);
  const codebase = !hasFunctions || choice.packaging === "kit" || isForeign ? "none" : (functions?.position ?? "new");
  const firebaseJson = addToFirebaseJson(read(FIREBASE_JSON), {
    database: choice.database,
    firestoreFiles: { ...firestoreFiles, indexes: indexes.isNeeded ? firestoreFiles.indexes : undefined },
    hasFunctions,
    codebase,
    location: choice.databaseSettings.location,
    edition: choice.databaseSettings.edition,
  });
  // The order lets a killed run resume. Rules and indexes record the choice. The dependency on the client records that the sample was
  // written. firebase.json is last: it marks the end.
  const changes: FileChange[] = [
    ...(indexes.isNeeded ? [textChange(firestoreFiles.indexes, read(firestoreFiles.indexes), indexes.text)] : []),
    textChange(firestoreFiles.rules, read(firestoreFiles.rules), rules.text),
    ...code.changes,
    ...client.changes,
    textChange(FIREBASE_JSON, read(FIREBASE_JSON), firebaseJson),
  ];
  const isFirst = functions?.position === undefined;
  const isAdded = hasFunctions && settings.rules?.hasFunctions === false;
  const first = () =>
    isAdded && choice.packaging === "codebase" ? addCommand(project) : firstCommand(project, choice.packaging);
  return {
    changes,
    notes: [
      ...rules.warnings.map((warning) => `${firestoreFiles.rules}: ${warning}`),
      ...indexes.notes,
      ...peerNotes(project),
      ...projectNotes(project),
      ...(isAdded ? [ADDED] : []),
      ...databaseNotes(project, choice),
      ...code.notes,
      ...client.notes,
    ],
    nextCommand: hasFunctions && isFirst ? first() : deployCommand(project, changes),
    readOn: `${PAGES}/setup.md#what-you-will-see`,
  };
}

/**
 * Refuses a codebase or folder that is named tally but is not Tally's.
 *
 * @throws CommandError with what was found
 */
function refuseForeignFolder(project: Project, as?: string): void {
  const { allFunctions, functionsEntries } = project;
  if (as === "kit" || allFunctions.length > 0) return;
  const named = functionsEntries.find(({ codebase }) => codebase === CODEBASE);
  if (named)
    throw new CommandError(
      FAILED,
      `${FIREBASE_JSON} has a codebase ${CODEBASE} ${named.source === undefined ? "without a source" : `in ${named.source}`} that is not Tally's: its package does not depend on ${KIT}. ` +
        "Give it another name in firebase.json and run init again, or run `npx firestore-tally init --as kit`",
    );
  const foreign = foreignFilesIn(project, CODEBASE);
  if (foreign.length > 0)
    throw new CommandError(
      FAILED,
      `the folder ${CODEBASE}/ is not Tally's: it has ${foreign.join(", ")}. Rename it and run init again, or run \`npx firestore-tally init --as kit\``,
    );
}

const ADDED =
  "the rules now let clients write shards, which the functions count: deploy the functions first, then the rules; restart emulators. Counters in use go on";

/** @throws CommandError if the app counts on a server, which writes shards */
function refuseServer({ app }: Project): void {
  if (frameworkOf(app) === "a server")
    throw new CommandError(
      FAILED,
      `${joinPath(app.folder, MANIFEST)} depends on firebase-admin alone: servers count on shards, which need the functions. Leave out --without-functions`,
    );
}

/** Tally's indexes for this choice. Removes those of an earlier choice. */
function indexChanges(project: Project, choice: Choice) {
  const { collection, edition, initialParameters, changedParameters } = choice;
  const { firestoreFiles } = project;
  const present = project.settings;
  const shipped = packaged("firestore.indexes.json");
  const parameters = { ...initialParameters, ...present.values, ...changedParameters };
  const isNeeded = choice.hasFunctions || choice.leaderboards;
  const wanted = choice.hasFunctions
    ? indexesOf(shipped, collection, edition, parameters)
    : leaderboardIndex(shipped, collection, edition);
  // The parameters of a kit may be in no file here.
  const knowsWindows = parameters.WINDOWS !== undefined;
  const collections = [present.collection, present.values.COLLECTION ?? present.collection];
  const before = rulesOrIndexesText(project, "indexes");
  const stale =
    before === undefined
      ? undefined
      : removeIndexes(firestoreFiles.indexes, before, staleIndexes(shipped, collections, wanted, knowsWindows));
  const { text, differing } = addIndexes(firestoreFiles.indexes, stale, wanted);
  const notes =
    differing.length === 0
      ? []
      : [
          `${firestoreFiles.indexes} has overrides of its own for ${differing.join(", ")}: take them out if your queries do not need them. ` +
            `Tally needs no index of these fields, and a busy counter takes fewer writes with one: ${PAGES}/configuration.md#rules-and-indexes`,
        ];
  return { isNeeded, text, notes };
}

function functionsChanges(project: Project, choice: Choice, packages: string | undefined): ChangesWithNotes {
  const { functions, read } = project;
  if (choice.packaging === "kit") {
    const { env } = functions ?? {};
    const before = env === undefined ? undefined : read(env);
    if (env === undefined || before === undefined) return { changes: [], notes: kitNotes(project, choice) };
    const change = textChange(env, before, withValues(before, choice.changedParameters));
    return { changes: [change], notes: parameterNotes(project, choice, change) };
  }
  const { changes, notes, env } = codebaseChanges(project, {
    folder: functions?.folder ?? CODEBASE,
    packages,
    initialParameters: choice.initialParameters,
    changedParameters: choice.changedParameters,
    upgradesKit: false,
  });
  return { changes, notes: [...notes, ...parameterNotes(project, choice, env)] };
}

/** Adds the sample, then the client dependency. A later run sees the dependency and writes no second sample. */
function appChanges(project: Project, choice: Choice, packages: string | undefined): ChangesWithNotes {
  const { app, read, functions } = project;
  const path = joinPath(app.folder, MANIFEST);
  const before = read(path);
  if (before === undefined) return { changes: [], notes: [] };
  const present = app.dependencies[CLIENT];
  const tarballs = choice.hasFunctions ? (functions?.folder ?? CODEBASE) : app.folder;
  const version = clientVersion(app.folder, tarballs, packages);
  const wanted = present !== undefined && packages === undefined ? present : version;
  const manifest = textChange(path, before, wanted === present ? before : withDependency(before, CLIENT, wanted));
  if (present !== undefined)
    return { changes: [...unusedTarball(project, app.folder, present, wanted), manifest], notes: [] };
  const { database, collection } = choice;
  const sample = sampleFor(app, { views: choice.open[0], likes: choice.once[0], database, collection });
  if (!("path" in sample)) return { changes: [manifest], notes: sample.note === undefined ? [] : [sample.note] };
  const file = textChange(joinPath(app.folder, sample.path), undefined, sample.text);
  return { changes: [file, manifest], notes: sampleNotes(file.path, frameworkOf(app)) };
}

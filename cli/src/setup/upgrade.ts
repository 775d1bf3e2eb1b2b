/** `npx firestore-tally upgrade`: brings rules, indexes, functions and client of a project to this version. The policy stays. */
import { COUNTING_DEFAULTS, regionsNear } from "../../../functions/src/decisions.ts";
import { CommandError, FAILED } from "../commandError.ts";
import { carryOut, type Plan, type SetupOptions } from "./carryOut.ts";
import { type FileChange, realChanges, textChange } from "./changes.ts";
import {
  type ChangesWithNotes,
  clientTarball,
  clientVersion,
  codebaseChanges,
  unusedTarball,
  upgradedVersion,
  withDependency,
} from "./codebase.ts";
import { parametersFor, unknownIn, type Values } from "./dotenv.ts";
import { CODEBASE, FIREBASE_JSON, withCodebase } from "./firebaseJson.ts";
import { addIndexes, indexesOf } from "./indexesJson.ts";
import { CLIENT, hasForeignCode, KIT } from "./kitPackage.ts";
import { groupsThatNeedFunctions } from "./neededGroups.ts";
import { deployCommand } from "./nextCommand.ts";
import { PAGES, packaged, VERSION } from "./packaged.ts";
import { firebaseCommand, joinPath, MANIFEST, type Project, readProject } from "./project.ts";
import { changesFor } from "./releases.ts";
import { upgradeRules } from "./rules/compose.ts";
import { findBlock } from "./rules/markers.ts";

export interface UpgradeOptions extends SetupOptions {
  readonly database?: string;
  /** A folder with the tarballs of both packages. */
  readonly packages?: string;
}

export async function upgrade(options: UpgradeOptions): Promise<void> {
  const project = readProject(process.cwd(), options.database);
  await carryOut(project.folder, planUpgrade(project, options.packages), options);
}

/** @throws CommandError if the project has no rules of Tally, or the rules' markers are damaged */
export function planUpgrade(project: Project, packages?: string): Plan {
  const { firestoreFiles, read } = project;
  const before = read(firestoreFiles.rules) ?? "";
  const { collection, edition, values, rules: present } = project.settings;
  const needed =
    Object.keys(values).length > 0 ? groupsThatNeedFunctions({ ...values, ...newDays(values) }) : undefined;
  const rules = upgradeRules(before, packaged("firestore.rules"), VERSION, needed);
  if ("refused" in rules) throw new CommandError(FAILED, `${firestoreFiles.rules}: ${rules.refused}`);
  const from = findBlock(before)?.version ?? VERSION;
  const tally = indexesOf(packaged("firestore.indexes.json"), collection, edition, values);
  const indexes = addIndexes(firestoreFiles.indexes, read(firestoreFiles.indexes), tally);
  const needsIndexes = present?.hasFunctions !== false;
  const code = functionsChanges(project, packages);
  const clients = changesFor(from, VERSION);
  const changes = [
    ...(needsIndexes ? [textChange(firestoreFiles.indexes, read(firestoreFiles.indexes), indexes.text)] : []),
    textChange(firestoreFiles.rules, before, rules.text),
    ...code.changes,
    ...appChanges(project, packages),
  ];
  return {
    changes,
    clientChanges:
      clients.length > 0
        ? `Changes for deployed clients: ${clients.join(" ")}`
        : `Deployed clients of ${from} keep working unchanged.`,
    notes: [
      ...rules.warnings.map((warning) => `${firestoreFiles.rules}: ${warning}`),
      ...code.notes,
      ...(realChanges(code.changes).length > 0 ? ingestNotes(values) : []),
    ],
    nextCommand: deployCommand(project, changes),
    readOn: `${PAGES}/setup.md#upgrade`,
  };
}

/** What an upgrade of the functions means for events by HTTP. */
function ingestNotes({ INGEST_COUNTERS = "" }: Values): string[] {
  if (INGEST_COUNTERS === "") return [];
  const [, group] = /(?:^|,)\s*([^,/:]+):\*/.exec(INGEST_COUNTERS.replace(/\/.*?\//g, "")) ?? [];
  return [
    "deploy the functions before pages with a new beacon: older functions may refuse its batches",
    ...(group === undefined
      ? []
      : [
          `${group}:* in INGEST_COUNTERS are the counters of the group that exist. If events may also make new ones, list /${group}:.*/ or a ` +
            "narrower expression instead",
        ]),
  ];
}

/** Upgrades the kit, adds the new parameters, and repairs missing or damaged files. */
function functionsChanges(project: Project, packages: string | undefined): ChangesWithNotes {
  const { functions, read, app } = project;
  if (project.settings.rules?.hasFunctions === false) return clientTarball(project, app.folder, packages);
  if (functions?.packaging !== "codebase") {
    const source = project.functionsEntries[functions?.position ?? -1]?.source;
    const howToUpgrade = functions
      ? `${FIREBASE_JSON} has Tally as the kit ${functions.name}: to upgrade its functions, set ${KIT} to ^${VERSION} in ${source === undefined ? "its package.json" : `${source}/package.json`}, and deploy`
      : `${FIREBASE_JSON} has no codebase of Tally: \`npx firestore-tally init\` adds one. To upgrade an extension, run \`${firebaseCommand(app)} ext:update\``;
    return { changes: [], notes: [howToUpgrade] };
  }
  const { folder, position } = functions;
  const { location, rules } = project.settings;
  const [region] = regionsNear(location);
  const { changes, addedParameters, ...code } = codebaseChanges(project, {
    folder,
    packages,
    initialParameters: parametersFor({ ...project.settings, region, visitors: rules?.visitors ?? [] }),
    changedParameters: newDays(project.settings.values),
    upgradesKit: true,
  });
  const notes = [...code.notes];
  const unknown = unknownIn(read(`${folder}/.env`) ?? "");
  const firebaseJson = read(FIREBASE_JSON);
  if (addedParameters.length > 0)
    notes.push(`${folder}/.env has new parameters: ${addedParameters.join(", ")}. Check their values`);
  if (unknown.length > 0 && !hasForeignCode(project, folder))
    notes.push(
      `${folder}/.env sets ${unknown.join(", ")}, which ${VERSION} does not have: remove ${unknown.length === 1 ? "it" : "them"}`,
    );
  if (firebaseJson === undefined) return { changes, notes };
  const completed = hasForeignCode(project, folder) ? firebaseJson : withCodebase(firebaseJson, position ?? "new");
  return { changes: [...changes, textChange(FIREBASE_JSON, firebaseJson, completed)], notes };
}

/** In an older version, HISTORY_DAYS=0 kept no history. Now an empty HISTORY says so, and the days are 1 or more. */
function newDays({ HISTORY_DAYS, HISTORY = "" }: Values): Values {
  return Number(HISTORY_DAYS) === 0 && HISTORY === "" ? { HISTORY_DAYS: COUNTING_DEFAULTS.HISTORY_DAYS ?? "" } : {};
}

function appChanges(project: Project, packages: string | undefined): FileChange[] {
  const { app, read, functions, settings } = project;
  const tarballs = settings.rules?.hasFunctions === false ? app.folder : (functions?.folder ?? CODEBASE);
  const path = joinPath(app.folder, MANIFEST);
  const before = read(path);
  const present = app.dependencies[CLIENT];
  if (before === undefined || present === undefined) return [];
  const version = upgradedVersion(present, clientVersion(app.folder, tarballs, packages), packages);
  return [
    ...unusedTarball(project, app.folder, present, version),
    textChange(path, before, withDependency(before, CLIENT, version)),
  ];
}

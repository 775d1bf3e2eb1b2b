/** `npx firestore-tally upgrade`: brings rules, indexes, functions and client of a project to this version. The policy stays. */
import { CommandError, FAILED } from "../commandError.ts";
import type { FileChange } from "./changes.ts";
import { clientVersion, codebaseChanges, upgradedVersion, withDependency } from "./codebase.ts";
import { unknownIn } from "./dotenv.ts";
import { CODEBASE, FIREBASE_JSON, withCodebase } from "./firebaseJson.ts";
import { addIndexes, indexesOf } from "./indexesJson.ts";
import { CLIENT, hasOwnCode, KIT } from "./kitPackage.ts";
import { regionsBeside } from "./location.ts";
import { deployCommand } from "./nextCommand.ts";
import { PAGES, packaged, VERSION } from "./packaged.ts";
import { presentIn } from "./present.ts";
import { firebaseOf, inFolder, MANIFEST, type Project, readProject } from "./project.ts";
import { changesFor } from "./releases.ts";
import { upgradeRules } from "./rules/compose.ts";
import { findBlock } from "./rules/markers.ts";
import { carryOut, type Plan, type SetupOptions } from "./setup.ts";

export interface UpgradeOptions extends SetupOptions {
  readonly database?: string;
  /** A folder with the tarballs of both packages. */
  readonly packages?: string;
}

export async function upgrade(options: UpgradeOptions): Promise<void> {
  const project = readProject(process.cwd(), options.database);
  await carryOut(project.folder, planUpgrade(project, options.packages), options);
}

/** @throws CommandError if `init` has not been here, or the rules' markers are damaged */
export function planUpgrade(project: Project, packages?: string): Plan {
  const { places, read } = project;
  const before = read(places.rules) ?? "";
  const rules = upgradeRules(before, packaged("firestore.rules"), VERSION);
  if ("refused" in rules) throw new CommandError(FAILED, `${places.rules}: ${rules.refused}`);
  const from = findBlock(before)?.version ?? VERSION;
  const { collection, edition } = presentIn(project);
  const tally = indexesOf(packaged("firestore.indexes.json"), collection, edition);
  const indexes = addIndexes(places.indexes, read(places.indexes), tally);
  const code = functionsChanges(project, packages);
  const clients = changesFor(from, VERSION);
  const changes = [
    { path: places.indexes, before: read(places.indexes), after: indexes.text },
    { path: places.rules, before, after: rules.text },
    ...code.changes,
    ...clientChanges(project, packages),
  ];
  return {
    changes,
    first:
      clients.length > 0
        ? `What changes for clients of before: ${clients.join(" ")}`
        : `Clients of ${from} go on as before.`,
    notes: [...rules.warnings.map((warning) => `${places.rules}: ${warning}`), ...code.notes],
    next: deployCommand(project, changes),
    page: `${PAGES}/setup.md#upgrade`,
  };
}

/** The kit's version, a line for each parameter that is new, and what is missing or damaged. */
function functionsChanges(project: Project, packages: string | undefined): { changes: FileChange[]; notes: string[] } {
  const { functions, read, app } = project;
  if (functions?.packaging !== "codebase") {
    const renewed = functions
      ? `${FIREBASE_JSON} has Tally as the kit ${functions.name}: to renew its functions, set the version of ${KIT} in the package.json of its source, and deploy`
      : `${FIREBASE_JSON} has no codebase of Tally: \`npx firestore-tally init\` adds one. An extension is renewed by \`${firebaseOf(app)} ext:update\``;
    return { changes: [], notes: [renewed] };
  }
  const { folder, entry } = functions;
  const { database, edition, collection, location, rules } = presentIn(project);
  const parameters = {
    ...{ LOCATION: regionsBeside(location)[0], DATABASE_ID: database, EDITION: edition, COLLECTION: collection },
    ...(rules && rules.visitors.length > 0 && { VISITORS: "yes" }),
  };
  const { changes, newParameters, ...code } = codebaseChanges(project, { folder, packages, parameters, renew: true });
  const notes = [...code.notes];
  const unknown = unknownIn(read(`${folder}/.env`) ?? "");
  const firebaseJson = read(FIREBASE_JSON);
  if (newParameters.length > 0)
    notes.push(
      `${folder}/.env has new parameters: ${newParameters.join(", ")}. Look whether you need others than these values`,
    );
  if (unknown.length > 0)
    notes.push(`${folder}/.env sets what is no parameter of ${VERSION}: take out ${unknown.join(", ")}`);
  const completed =
    firebaseJson === undefined || hasOwnCode(project, folder) ? firebaseJson : withCodebase(firebaseJson, entry);
  return { changes: [...changes, { path: FIREBASE_JSON, before: firebaseJson, after: completed }], notes };
}

function clientChanges({ app, read, functions }: Project, packages: string | undefined): FileChange[] {
  const path = inFolder(app.folder, MANIFEST);
  const before = read(path);
  const present = app.dependencies[CLIENT];
  if (before === undefined || present === undefined) return [];
  const version = upgradedVersion(
    present,
    clientVersion(app.folder, functions?.folder ?? CODEBASE, packages),
    packages,
  );
  return [{ path, before, after: withDependency(before, CLIENT, version) }];
}

/**
 * Tally's functions among those of `firebase.json`: codebases whose package depends on the kit, and instances of the kit. The names
 * decide only if the folder is missing or damaged.
 */
import { CommandError, FAILED, WRONG_USAGE } from "../commandError.ts";
import { type Values, valuesIn, withoutCutLine } from "./dotenv.ts";
import { CODEBASE, DEFAULT_DATABASE, type FunctionsEntry, isEntryOfInit } from "./firebaseJson.ts";
import { dependsOnKit, type Files, foreignFilesIn, KIT } from "./kitPackage.ts";

/** How the functions are deployed. */
export type Packaging = "codebase" | "kit";

export interface TallysFunctions {
  readonly packaging: Packaging;
  /** What `firebase deploy --only functions:` takes: the codebase, or the instance of the kit. */
  readonly name: string;
  /** The folder of the codebase, or that of the instance's parameters. */
  readonly folder: string;
  /** The file of the parameters; `undefined` if there is none. */
  readonly env: string | undefined;
  /** The parameters in that file. */
  readonly values: Values;
  /** The position of its entry in `firebase.json`; `undefined` for a folder that a killed `init` has left without an entry. */
  readonly position: number | undefined;
}

/** @param entries  of `firebase.json` */
export function tallysFunctionsIn(entries: readonly FunctionsEntry[], files: Files): TallysFunctions[] {
  const named = entries.flatMap((entry, position): TallysFunctions[] => {
    const { kit, source, instances = {} } = entry;
    if (kit !== undefined) {
      if (!isTallysKit(entry, files)) return [];
      return Object.entries(instances).map(([name, folder]) => functionsOf("kit", name, folder, position, files));
    }
    if (source === undefined || !isTallysCodebase(entry, source, files)) return [];
    return [functionsOf("codebase", entry.codebase ?? "default", source, position, files)];
  });
  const isUnnamed = entries.every(({ source }) => source !== CODEBASE) && isTallysFolder(files);
  return isUnnamed ? [...named, functionsOf("codebase", CODEBASE, CODEBASE, undefined, files)] : named;
}

function isTallysFolder(files: Files): boolean {
  const hasAny = files.list(CODEBASE).some((name) => ["package.json", "index.js", ".env"].includes(name));
  return dependsOnKit(files, CODEBASE) || (hasAny && foreignFilesIn(files, CODEBASE).length === 0);
}

function isTallysKit({ kit, source = "", sourcePackage }: FunctionsEntry, files: Files): boolean {
  return sourcePackage?.name === KIT || kit === KIT || dependsOnKit(files, source);
}

/** The folder of init's entry may be missing or damaged. Then the entry must be as `init` writes it, and the folder hold only Tally's files. */
function isTallysCodebase(entry: FunctionsEntry, source: string, files: Files): boolean {
  if (dependsOnKit(files, source)) return true;
  return isEntryOfInit(entry) && foreignFilesIn(files, source).length === 0;
}

function functionsOf(
  packaging: Packaging,
  name: string,
  folder: string,
  position: number | undefined,
  files: Files,
): TallysFunctions {
  const env = packaging === "kit" ? envOfInstance(folder, files) : `${folder}/.env`;
  const text = env === undefined ? "" : (files.read(env) ?? "");
  return { packaging, name, folder, env, values: valuesIn(withoutCutLine(text)), position };
}

/** The Firebase CLI writes the parameters of an instance into a file for each project. */
function envOfInstance(folder: string, files: Files): string | undefined {
  const names = files.list(folder).filter((name) => /^\.env(\.|$)/.test(name) && name !== ".env.local");
  const name = names.includes(".env") ? ".env" : names.length === 1 ? names[0] : undefined;
  return name === undefined ? undefined : `${folder}/${name}`;
}

/** `undefined` if there are no parameters. */
function databaseOf({ values }: TallysFunctions): string | undefined {
  return values.DATABASE_ID ?? (Object.keys(values).length > 0 ? DEFAULT_DATABASE : undefined);
}

/**
 * The functions of a database, and the database that is meant if none is named.
 *
 * @param named  the option `--database`
 * @throws CommandError if the functions of a codebase count in another database
 */
export function functionsFor(
  named: string | undefined,
  all: readonly TallysFunctions[],
): { database: string; functions: TallysFunctions | undefined } {
  if (named !== undefined && named !== DEFAULT_DATABASE && !/^[a-z][a-z0-9-]*[a-z0-9]$/.test(named))
    throw new CommandError(
      WRONG_USAGE,
      `--database ${JSON.stringify(named)} is no id of a database: lower-case letters, digits and hyphens`,
    );
  const databases = [...new Set(all.map(databaseOf).filter((one) => one !== undefined))];
  if (named === undefined && databases.length > 1 && !databases.includes(DEFAULT_DATABASE))
    throw new CommandError(
      WRONG_USAGE,
      `Tally's functions count in several databases; pass --database ${databases.join(" or ")}`,
    );
  const database = named ?? (databases.length === 1 ? databases[0] : undefined) ?? DEFAULT_DATABASE;
  const functions = all.find((one) => (databaseOf(one) ?? database) === database);
  const codebase = all.find(({ packaging }) => packaging === "codebase");
  if (functions === undefined && codebase !== undefined && all.every(({ packaging }) => packaging === "codebase"))
    throw new CommandError(
      FAILED,
      `--database ${database}: Tally's functions in ${codebase.folder}/ count in the database ${databaseOf(codebase)}. To move them, set ` +
        `DATABASE_ID in ${codebase.env} to ${database} and run this again. To count in both, install an instance of the kit for ${database}: ` +
        `npx firebase-tools functions:kits:install --package ${KIT}`,
    );
  return { database, functions };
}

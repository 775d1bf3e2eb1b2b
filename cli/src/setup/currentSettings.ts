/** What a project's files set already. An option that is left out keeps that value. Also finds contradictions between the files. */
import { DEFAULT_COLLECTION } from "../../../core/src/index.ts";
import { EDITIONS, type Edition } from "../../../functions/src/decisions.ts";
import type { FirestoreEntry } from "../firestoreEntries.ts";
import type { Values } from "./dotenv.ts";
import { DEFAULT_LOCATION, isNear } from "./location.ts";
import { readChoice } from "./rules/compose.ts";
import type { RulesChoice } from "./rules/composed.ts";
import type { Packaging, TallysFunctions } from "./tallysFunctions.ts";

export interface CurrentSettings {
  /** The choice in the rules; `undefined` without rules of Tally. */
  readonly rules: RulesChoice | undefined;
  /** `undefined` without functions. */
  readonly packaging: Packaging | undefined;
  /** Whether `init` has come to its end: it writes `firebase.json` last. */
  readonly hasFunctionsEntry: boolean;
  readonly database: string;
  readonly collection: string;
  readonly edition: Edition;
  /** The location of the database; without an entry for it, the region of the functions. */
  readonly location: string;
  /** Where the location is set, such as `LOCATION in tally/.env`. */
  readonly locationSource: string;
  /** The parameters of the functions. */
  readonly values: Values;
}

/** What the settings are read from. */
interface ProjectFiles {
  readonly allFunctions: readonly TallysFunctions[];
  readonly functions: TallysFunctions | undefined;
  readonly database: string;
  readonly databaseEntry: FirestoreEntry | undefined;
  readonly rulesText: string | undefined;
}

export function currentSettings(files: ProjectFiles): CurrentSettings {
  const { allFunctions, functions, database, databaseEntry, rulesText } = files;
  const rules = readChoice(rulesText ?? "");
  const values = functions?.values ?? {};
  const edition = values.EDITION ?? databaseEntry?.edition?.toLowerCase();
  return {
    rules,
    database,
    values,
    packaging: functions?.packaging ?? (allFunctions.length > 0 ? "kit" : undefined),
    hasFunctionsEntry: functions?.position !== undefined,
    collection: rules?.collection ?? values.COLLECTION ?? DEFAULT_COLLECTION,
    edition: EDITIONS.find((one) => one === edition) ?? "standard",
    location: databaseEntry?.location ?? values.LOCATION ?? DEFAULT_LOCATION,
    locationSource:
      databaseEntry?.location === undefined ? `LOCATION in ${functions?.env}` : "the location in firebase.json",
  };
}

/** What the files say in the end. */
interface FinalSettings {
  readonly rules: Pick<RulesChoice, "collection" | "visitors">;
  readonly databaseSettings: { readonly location?: string | undefined; readonly edition?: string | undefined };
  readonly values: Values;
}

/**
 * Contradictions, such as an edit by hand leaves, each with what to do.
 *
 * @param env  the file of the parameters
 */
export function contradictionsIn({ rules, databaseSettings, values }: FinalSettings, env: string): string[] {
  const { LOCATION: region, EDITION: edition, COLLECTION: collection, VISITORS: visitors } = values;
  const found: string[] = [];
  if (databaseSettings.location !== undefined && region !== undefined && !isNear(region, databaseSettings.location))
    found.push(
      `${env} runs the functions in ${region}, far from the database in ${databaseSettings.location}, so every total is late. ` +
        "Pass --location with the database's location",
    );
  if (
    databaseSettings.edition !== undefined &&
    edition !== undefined &&
    databaseSettings.edition.toLowerCase() !== edition
  )
    found.push(
      `firebase.json has the edition ${databaseSettings.edition}, but ${env} has EDITION=${edition}. Pass --edition with the database's edition`,
    );
  if (collection !== undefined && collection !== rules.collection)
    found.push(
      `the rules are for counters in ${rules.collection}, but ${env} has COLLECTION=${collection}. Pass --collection with the collection to keep`,
    );
  if (visitors === "no" && rules.visitors.length > 0)
    found.push(
      `the rules count visitors of ${rules.visitors.join(", ")}, but ${env} has VISITORS=no. Pass --visitors ${rules.visitors.join(",")}, or none`,
    );
  return found;
}

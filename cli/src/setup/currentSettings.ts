/**
 * What a project says already, and where its files contradict each other. Rules, parameters and `firebase.json` tell of the same things:
 * what is not given to `init` stays as the files say.
 */
import { DEFAULT_COLLECTION } from "../../../core/src/index.ts";
import { EDITIONS, type Edition } from "../../../functions/src/decisions.ts";
import type { Values } from "./dotenv.ts";
import { DEFAULT_LOCATION, isNear } from "./location.ts";
import { type Project, rulesOrIndexesText } from "./project.ts";
import { readChoice } from "./rules/compose.ts";
import type { RulesChoice } from "./rules/composed.ts";
import type { Packaging } from "./tallysFunctions.ts";

export interface CurrentSettings {
  /** By the rules; `undefined` without rules of Tally. */
  readonly rules: RulesChoice | undefined;
  /** `undefined` without functions. */
  readonly packaging: Packaging | undefined;
  /** Whether `init` has come to its end, which is `firebase.json`. */
  readonly hasFunctionsEntry: boolean;
  readonly database: string;
  readonly collection: string;
  readonly edition: Edition;
  /** Of the database; without an entry for it, the region of the functions. */
  readonly location: string;
  /** The parameters. */
  readonly values: Values;
}

type ProjectFiles = Pick<Project, "allFunctions" | "database" | "functions" | "firestoreFiles" | "read">;

export function currentSettings(project: ProjectFiles): CurrentSettings {
  const { allFunctions, database, functions, firestoreFiles } = project;
  const rules = readChoice(rulesOrIndexesText(project, "rules") ?? "");
  const values = functions?.values ?? {};
  const edition = values.EDITION ?? firestoreFiles.databaseEntry?.edition?.toLowerCase();
  return {
    ...{ rules, database, values },
    packaging: functions?.packaging ?? (allFunctions.length > 0 ? "kit" : undefined),
    hasFunctionsEntry: functions?.position !== undefined,
    collection: rules?.collection ?? values.COLLECTION ?? DEFAULT_COLLECTION,
    edition: EDITIONS.find((one) => one === edition) ?? "standard",
    location: firestoreFiles.databaseEntry?.location ?? values.LOCATION ?? DEFAULT_LOCATION,
  };
}

/** What the files say in the end. */
export interface FinalSettings {
  readonly rules: Pick<RulesChoice, "collection" | "visitors">;
  readonly entry: { readonly location?: string | undefined; readonly edition?: string | undefined };
  readonly values: Values;
}

/**
 * Contradictions, such as an edit by hand leaves, each with what to do.
 *
 * @param env  the file of the parameters
 */
export function contradictionsIn({ rules, entry, values }: FinalSettings, env: string): string[] {
  const { LOCATION: region, EDITION: edition, COLLECTION: collection, VISITORS: visitors } = values;
  const found: string[] = [];
  if (entry.location !== undefined && region !== undefined && !isNear(region, entry.location))
    found.push(
      `firebase.json has the database in ${entry.location}, and ${env} the functions in ${region}, so every total is late: ` +
        `pass --location with the place of the database`,
    );
  if (entry.edition !== undefined && edition !== undefined && entry.edition.toLowerCase() !== edition)
    found.push(
      `firebase.json has the edition ${entry.edition}, and ${env} has EDITION=${edition}: pass --edition with that of the database`,
    );
  if (collection !== undefined && collection !== rules.collection)
    found.push(
      `the rules are for counters in ${rules.collection}, and ${env} has COLLECTION=${collection}: pass --collection with the right one`,
    );
  if (visitors === "no" && rules.visitors.length > 0)
    found.push(
      `the rules count visitors of ${rules.visitors.join(", ")}, and ${env} has VISITORS=no: pass --visitors ${rules.visitors.join(",")}, or none`,
    );
  return found;
}

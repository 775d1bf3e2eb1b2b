/**
 * Which functions of a project are Tally's. A deployment's names share a prefix: `tally-shardcreated`, `ext-<instance>-shardcreated`,
 * `kit-<instance>-shardcreated`, and there may be several deployments, one for each database or collection.
 */
import { DEFAULT_COLLECTION } from "../../../core/src/index.ts";
import { FUNCTIONS } from "../../../functions/src/decisions.ts";
import type { DatabaseTarget } from "../databaseTarget.ts";
import type { DeployedFunction, ProjectFacts } from "./facts.ts";
import type { Finding } from "./finding.ts";

export interface Deployment {
  readonly prefix: string;
  readonly functions: ReadonlyMap<string, DeployedFunction>;
  /** Where its triggers look for shards. */
  readonly database: string;
  readonly collection: string;
}

/** A check of one deployment. */
export type DeploymentCheck = (deployment: Deployment, facts: ProjectFacts) => Finding[];

/** How many of the names show that it is Tally. A single one, such as `sweep`, may be another function's. */
const ENOUGH = 3;

export function findDeployments(functions: readonly DeployedFunction[]): Deployment[] {
  const byPrefix = new Map<string, Map<string, DeployedFunction>>();
  for (const one of functions) {
    const [, prefix = "", name = ""] = /^(.+)-([a-z]+)$/.exec(one.name) ?? [];
    if (!FUNCTIONS.has(name)) continue;
    byPrefix.set(prefix, (byPrefix.get(prefix) ?? new Map()).set(name, one));
  }
  return [...byPrefix]
    .filter(([, found]) => found.size >= ENOUGH)
    .map(([prefix, found]) => ({ prefix, functions: found, ...placeOf(found) }));
}

/** Those that count in the database and the collection that the command is about. */
export function deploymentsFor(
  functions: readonly DeployedFunction[],
  { database, collection }: Pick<DatabaseTarget, "database" | "collection">,
): Deployment[] {
  return findDeployments(functions).filter((one) => one.database === database && one.collection === collection);
}

function placeOf(functions: ReadonlyMap<string, DeployedFunction>) {
  const found = (["shardcreated", "shardzeroupdated", "baseupdated"] as const).map(
    (name) => functions.get(name)?.trigger,
  );
  const trigger = found.find((one) => one?.document);
  const { DATABASE_ID, COLLECTION } = [...functions.values()][0]?.variables ?? {};
  return {
    database: trigger?.database ?? DATABASE_ID ?? "(default)",
    collection: trigger?.document?.split("/")[0] ?? COLLECTION ?? DEFAULT_COLLECTION,
  };
}

/** The parameters of a deployment; `undefined` if they could not be seen. */
export function variablesOf({ functions }: Deployment): Readonly<Record<string, string>> | undefined {
  return [...functions.values()].find(({ variables }) => variables !== null)?.variables ?? undefined;
}

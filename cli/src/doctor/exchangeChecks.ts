/** Whether the regions of an app know of each other, and have what the others have counted. */
import { COUNTING_DEFAULTS } from "../../../functions/src/deploy/parameters.ts";
import { parseRegions, type Regions } from "../../../functions/src/features/regions/parseRegions.ts";
import { pluralize } from "../format.ts";
import { PAGES } from "../setup/packaged.ts";
import { type Deployment, deploymentsFor, findDeployments, variablesOf } from "./deployments.ts";
import { type Exchange, type ProjectFacts, seen } from "./facts.ts";
import { DEPLOY_FUNCTIONS, errorFinding, type Finding, listed } from "./finding.ts";

/** The regions of the functions that count in the database; `undefined` if there is one only, or if they could not be seen. */
export function regionsOf({ functions, target }: Pick<ProjectFacts, "functions" | "target">): Regions | undefined {
  const [deployment] = deploymentsFor(seen(functions) ?? [], target);
  return parsed(deployment && variablesOf(deployment)?.REGIONS, target.database, target.project);
}

/** An invalid list is told with the other parameters. */
function parsed(list: string | undefined, database: string, project: string): Regions | undefined {
  try {
    return parseRegions(list ?? "", database, project);
  } catch {
    return undefined;
  }
}

export function checkExchange(facts: ProjectFacts): Finding[] {
  const regions = regionsOf(facts);
  if (!regions) return [];
  const sample = seen(facts.regions);
  return [...checkDeployments(facts, regions), ...(sample ? [...behind(sample), ...restored(sample)] : [])];
}

/** All regions with their databases, in one order. */
function databasesOf({ own, others }: Regions, database: string, ownProject: string): string {
  const all = [{ name: own, project: ownProject, database }, ...others];
  return all
    .map((one) => `${one.name}=${one.project ?? ownProject}/${one.database}`)
    .toSorted()
    .join();
}

/** Those of other projects are not seen. */
function checkDeployments({ functions, target }: ProjectFacts, regions: Regions): Finding[] {
  const deployments = findDeployments(seen(functions) ?? []);
  const [own] = deploymentsFor(seen(functions) ?? [], target);
  const timeZone = own && timeZoneOf(own);
  const inProject = regions.others.filter(({ project = target.project }) => project === target.project);
  const databases = databasesOf(regions, target.database, target.project);
  return inProject.flatMap(({ name, database }) => {
    const found = deployments.filter((one) => one.database === database && one.collection === target.collection);
    if (found.length === 0) {
      return [
        errorFinding(
          "region-without-functions",
          `REGIONS names ${name}, and no functions of Tally count in its database "${database}": what is written there is in no total`,
          `deploy them for that database, or take ${name} out of REGIONS`,
        ),
      ];
    }
    const isUnlike = (one: Deployment): boolean => {
      const variables = variablesOf(one);
      const theirs = variables && parsed(variables.REGIONS, database, target.project);
      return (
        variables !== undefined && (theirs?.own !== name || databasesOf(theirs, database, target.project) !== databases)
      );
    };
    const unlike = found
      .filter(isUnlike)
      .map(({ prefix }) =>
        errorFinding(
          "regions-differ",
          `REGIONS of ${prefix} is not that of ${regions.own}: a region that one of them leaves out gets nothing from it`,
          `set the same REGIONS for all regions, and ${DEPLOY_FUNCTIONS}`,
        ),
      );
    const others = found.flatMap((one) => timeZoneOf(one) ?? []).filter((other) => timeZone && other !== timeZone);
    const inOtherZone = others.map((other) =>
      errorFinding(
        "time-zones-differ",
        `days end by ${other} in ${name} and by ${timeZone} in ${regions.own}: globalWindows add up days that are not the same`,
        `set the same TIME_ZONE for all regions, and ${DEPLOY_FUNCTIONS}`,
      ),
    );
    return [...unlike, ...inOtherZone];
  });
}

/** `undefined` if it could not be seen. */
function timeZoneOf(deployment: Deployment): string | undefined {
  const variables = variablesOf(deployment);
  return variables && (variables.TIME_ZONE || COUNTING_DEFAULTS.TIME_ZONE);
}

function behind(exchanges: readonly Exchange[]): Finding[] {
  return byRegions(exchanges.filter(({ trouble }) => trouble === "behind")).map(([{ from, to }, ids]) =>
    errorFinding(
      "region-behind",
      `${to} does not have what ${from} has counted for ${listed(ids)}: ${pluralize(ids.length, "exchange")} failed or ${ids.length === 1 ? "was" : "were"} never made`,
      `run \`npx firestore-tally exchange\` for ${from}; if it happens again, look for \`could not reach a region\` in the log of aggregate there`,
    ),
  );
}

function restored(exchanges: readonly Exchange[]): Finding[] {
  return byRegions(exchanges.filter(({ trouble }) => trouble === "lost")).map(([{ from, to }, ids]) =>
    errorFinding(
      "region-restored",
      `${from} has lost increments of ${listed(ids)} that ${to} knows of: it was restored from a backup`,
      `decide before ${from} counts again, which makes ${to} forget them: ${PAGES}/operations.md#regions`,
    ),
  );
}

/** The counters of each pair of regions. */
function byRegions(exchanges: readonly Exchange[]): [Exchange, string[]][] {
  const pairs = new Map<string, Exchange[]>();
  for (const exchange of exchanges) {
    const pair = `${exchange.from} ${exchange.to}`;
    pairs.set(pair, [...(pairs.get(pair) ?? []), exchange]);
  }
  return [...pairs.values()].map((found) => [found[0] as Exchange, found.map(({ id }) => id)]);
}

/** Whether the functions are in one region, near the database, with their queue, and get the events of its location. */
import { regionsNear } from "../../../functions/src/decisions.ts";
import { type DeploymentCheck, variablesOf } from "./deployments.ts";
import { seen } from "./facts.ts";
import { DEPLOY_FUNCTIONS, errorFinding, listed, warningFinding } from "./finding.ts";

/** The first word of a region's name, such as `europe`. */
function continentOf(region: string): string {
  return region.replace("northamerica", "us").split("-")[0] ?? region;
}

const isNear: DeploymentCheck = ({ prefix, functions }, { database }) => {
  const location = seen(database)?.locationId;
  const region = functions.get("aggregate")?.region ?? functions.get("shardcreated")?.region;
  if (!location || !region) return [];
  const near = regionsNear(location);
  if (near.includes(region)) return [];
  const isAcross = near.every((one) => continentOf(one) !== continentOf(region));
  const toFinding = isAcross ? errorFinding : warningFinding;
  return [
    toFinding(
      "region-far",
      `${prefix} runs in ${region} and the database is in ${location}: each total is later by several round trips${isAcross ? " between continents, and traffic between them is billed" : ""}`,
      `set LOCATION to ${listed(near).replace(" and ", " or ")} if functions run there, and ${DEPLOY_FUNCTIONS}`,
    ),
  ];
};

const eventsArrive: DeploymentCheck = ({ functions }, { database }) => {
  const location = seen(database)?.locationId;
  const wrong = [...functions.values()].filter(({ trigger }) => trigger?.region && trigger.region !== location);
  const [first] = wrong;
  if (!location || !first) return [];
  return [
    errorFinding(
      "trigger-region",
      `${listed(wrong.map(({ name }) => name))} ${wrong.length === 1 ? "waits" : "wait"} for events from ${first.trigger?.region}, and the database is in ${location}: no event arrives`,
      `set DATABASE_REGION to ${location} (extension), or delete these functions, and ${DEPLOY_FUNCTIONS}`,
    ),
  ];
};

const isInOnePlace: DeploymentCheck = (deployment) => {
  const { prefix, functions } = deployment;
  const regions = [...new Set([...functions.values()].map(({ region }) => region))];
  const location = variablesOf(deployment)?.LOCATION;
  const aggregate = functions.get("aggregate")?.region;
  if (location !== undefined && aggregate !== undefined && location !== aggregate) {
    return [
      errorFinding(
        "region-queue",
        `LOCATION is ${location}, and ${prefix}-aggregate with its queue is in ${aggregate}: no task is scheduled`,
        `${DEPLOY_FUNCTIONS}, and delete the functions of the old region`,
      ),
    ];
  }
  if (regions.length < 2) return [];
  return [
    warningFinding(
      "region-split",
      `the functions of ${prefix} are in ${listed(regions)}`,
      `set one LOCATION, ${DEPLOY_FUNCTIONS}, and delete the functions of the old region`,
    ),
  ];
};

export const REGION_CHECKS: readonly DeploymentCheck[] = [eventsArrive, isInOnePlace, isNear];

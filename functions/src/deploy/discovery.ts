/**
 * What is checked and declared when the Firebase CLI asks the code which functions there are. The values of `.env` are in the environment
 * then. A wrong one ends the deployment before anything is created. Without this check the CLI would create rules and indexes first, and
 * fail later with a message about something else.
 *
 * https://firebase.google.com/docs/functions/config-env
 */
import { sdk } from "./coldStart.ts";
import { packaging } from "./packaging.ts";
import { invalidParameter, isEmail } from "./parameterValue.ts";
import { REGIONS, regionsNear } from "./regions.ts";
import { neededRoles } from "./roles.ts";

/** The oldest Node.js that firebase-admin runs on. */
const OLDEST_NODE = 22;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Without `SERVICE_ACCOUNT` the CLI creates an account for this codebase, with the roles that are declared here, and no others.
 *
 * @throws CounterError `counter/invalid-config`, naming the parameter, its value and what is accepted
 */
export function checkDiscovery(environment: Environment): void {
  if (environment.FUNCTIONS_CONTROL_API !== "true" || packaging() === "extension") return;
  const { LOCATION, SERVICE_ACCOUNT } = environment;
  checkNode(process.versions.node);
  if (LOCATION !== undefined) checkLocation(LOCATION);
  if (SERVICE_ACCOUNT) checkAccount(SERVICE_ACCOUNT);
  else declareRoles(environment);
}

function declareRoles(environment: Environment): void {
  const { requiresRole } = sdk("v2/options");
  for (const role of neededRoles(environment, packaging() === "kit").keys()) requiresRole(role);
}

function checkNode(version: string): void {
  if (Number.parseInt(version, 10) >= OLDEST_NODE) return;
  throw new Error(
    `firestore-tally-kit needs Node.js ${OLDEST_NODE} or newer, and the Firebase CLI runs in ${version}: install a newer one, then run the command again`,
  );
}

function checkLocation(location: string): void {
  if (REGIONS.includes(location)) return;
  const [nearest] = regionsNear(location);
  throw invalidParameter(
    "LOCATION",
    location,
    nearest !== location
      ? `${nearest}, the region of functions that is nearest to a database in ${location}`
      : "a region of functions, such as us-central1: https://cloud.google.com/functions/docs/locations",
  );
}

function checkAccount(account: string): void {
  if (isEmail(account)) return;
  throw invalidParameter("SERVICE_ACCOUNT", account, "the whole email of a service account, or nothing");
}

/**
 * Runs when the Firebase CLI discovers the functions. It checks parameters, and declares roles. The values of `.env` are in the environment
 * then. An invalid value ends the deployment before anything is created. Without the check the CLI creates indexes first, and then fails
 * with a message about something else.
 *
 * https://firebase.google.com/docs/functions/config-env
 */

import { invalidParameter, isEmail } from "../shared/parameters.ts";
import { sdk } from "./coldStart.ts";
import { packaging } from "./packaging.ts";
import { COUNTING_DEFAULTS, checkParameters, parseConfig } from "./parameters.ts";
import { looksLikeRegion, MULTI_REGIONS, REGIONS } from "./regions.ts";
import { neededRoles } from "./roles.ts";

/** The oldest Node.js that firebase-admin runs on. */
const OLDEST_NODE = 22;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Without `SERVICE_ACCOUNT` the CLI creates an account for this codebase, with the roles that are declared here, and no others.
 *
 * @throws CounterError `counter/invalid-config`, naming the parameter, its value and what is accepted
 */
export function onDiscovery(environment: Environment): void {
  if (environment.FUNCTIONS_CONTROL_API !== "true" || packaging() === "extension") return;
  const { LOCATION, SERVICE_ACCOUNT } = environment;
  checkNode(process.versions.node);
  if (LOCATION !== undefined) checkLocation(LOCATION);
  checkValues(environment);
  if (SERVICE_ACCOUNT) checkAccount(SERVICE_ACCOUNT);
  else declareRoles(environment);
}

/** An invalid value would fail each invocation or request. A parameter that `.env` does not set is asked for later, or has its default. */
function checkValues(environment: Environment): void {
  const set = Object.keys(COUNTING_DEFAULTS).flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const values = { ...COUNTING_DEFAULTS, ...Object.fromEntries(set) };
  parseConfig(values, environment.FUNCTIONS_EMULATOR !== undefined, environment.GCLOUD_PROJECT);
  checkParameters(values);
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

/** A region that is newer than the list is deployed, with a warning. */
function checkLocation(location: string): void {
  if (REGIONS.includes(location)) return;
  if (looksLikeRegion(location)) {
    console.warn(
      `LOCATION is ${location}, a region that this version of firestore-tally-kit does not know: is it misspelt?`,
    );
    return;
  }
  const [nearest] = MULTI_REGIONS[location] ?? [];
  const accepted = nearest
    ? `${nearest}, the region of functions that is nearest to a database in ${location}`
    : "a region of functions, such as us-central1: https://cloud.google.com/functions/docs/locations";
  throw invalidParameter("LOCATION", location, accepted);
}

function checkAccount(account: string): void {
  if (isEmail(account)) return;
  throw invalidParameter("SERVICE_ACCOUNT", account, "the whole email of a service account, or nothing");
}

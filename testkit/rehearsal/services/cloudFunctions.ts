/** Functions of the 2nd generation, and the upload of their source (https://cloud.google.com/functions/docs/reference/rest). */

import { isEmail, MULTI_REGIONS, REGIONS } from "../../../functions/src/decisions.ts";
import { type Cloud, type CloudFunction, DEFAULT_ACCOUNT, idOf, PROJECT_NUMBER, segmentAfter } from "../cloud.ts";
import { ApiError, existing, operation, route, type Service } from "../routes.ts";

const HOST = "cloudfunctions.googleapis.com";

export const cloudFunctions: Service = (cloud) => {
  const deployed = (name: string) => existing(cloud.functions, name, "Function");
  const deploy = (name: string, asked: CloudFunction) => {
    checkFunction(cloud, asked);
    const deployed = finished(asked);
    cloud.functions.set(name, deployed);
    const repository = `${name.replace(/\/functions\/.*/, "")}/repositories/gcf-artifacts`;
    cloud.repositories.set(repository, { name: repository, format: "DOCKER", ...cloud.repositories.get(repository) });
    return operation(cloud, cloud.newId(`${name.replace(/\/functions\/.*/, "")}/operations/deploy`), deployed);
  };
  return [
    // Functions of the 1st generation: there are none.
    route("GET", HOST, "/v1/projects/*/locations/-/functions", () => ({ functions: [] })),
    route("GET", HOST, "/v2/projects/*/locations/-/functions", () => ({ functions: [...cloud.functions.values()] })),
    route("POST", HOST, "/v2/projects/*/locations/{region}/functions:generateUploadUrl", ({ region }) => {
      checkRegion(cloud, region);
      const bucket = `gcf-v2-uploads-${PROJECT_NUMBER}.${region}.cloudfunctions.appspot.com`;
      const object = `${cloud.newId("source")}.zip`;
      return { uploadUrl: `https://storage.googleapis.com/${bucket}/${object}`, storageSource: { bucket, object } };
    }),
    route("PUT", "storage.googleapis.com", "/*/*", ({ bytes }) => {
      cloud.uploads.push(bytes);
      return {};
    }),
    route("POST", HOST, "/v2/projects/*/locations/*/functions", ({ body }) => {
      if (cloud.functions.has(body.name)) throw new ApiError(409, `Resource ${body.name} already exists`);
      return deploy(body.name, body);
    }),
    route("GET", HOST, "/v2/{name=projects/*/locations/*/functions/*}", ({ name }) => deployed(name)),
    route("PATCH", HOST, "/v2/{name=projects/*/locations/*/functions/*}", ({ name, body }) => {
      const { eventTrigger } = deployed(name);
      return deploy(name, { ...(eventTrigger && { eventTrigger }), ...body });
    }),
    route("DELETE", HOST, "/v2/{name=projects/*/locations/*/functions/*}", ({ name }) => {
      deployed(name);
      cloud.functions.delete(name);
      return operation(cloud, cloud.newId(`projects/${cloud.project}/operations/delete`));
    }),
  ];
};

/** A function after its build, which succeeds always. */
function finished(asked: CloudFunction): CloudFunction {
  const { name, serviceConfig } = asked;
  const [id, region] = [idOf(name), segmentAfter(name, "locations")];
  const service = `projects/${segmentAfter(name, "projects")}/locations/${region}/services/${id}`;
  const uri = `https://${id}-${PROJECT_NUMBER}.${region}.run.app`;
  // An empty text is the default in protocol buffers (https://protobuf.dev/programming-guides/json/).
  const serviceAccountEmail = serviceConfig.serviceAccountEmail || DEFAULT_ACCOUNT;
  const config = { ...serviceConfig, service, uri, serviceAccountEmail, allTrafficOnLatestRevision: true };
  const state = { state: "ACTIVE", environment: "GEN_2", updateTime: new Date().toISOString(), url: uri };
  return { ...asked, ...state, serviceConfig: config };
}

/** The answer to a location that is none, as a user got it: https://github.com/dalenguyen/firebase-wordpress-plugin/issues/151 */
function checkRegion(cloud: Cloud, region: string): void {
  if (REGIONS.includes(region)) return;
  // The answer names rights, and the CLI adds a hint at App Engine.
  const isMultiRegion = Object.hasOwn(MULTI_REGIONS, region);
  cloud.problems.add(
    `${region} is ${isMultiRegion ? "a multi-region of Firestore" : "no region"}; functions run in one such as us-central1`,
  );
  throw new ApiError(403, `Permission denied on 'locations/${region}' (or it may not exist).`);
}

function checkFunction(cloud: Cloud, { name, labels = {}, serviceConfig, eventTrigger }: CloudFunction): void {
  const id = idOf(name);
  checkRegion(cloud, segmentAfter(name, "locations"));
  // It names a service of Cloud Run: https://cloud.google.com/run/docs/reference/rest/v2/projects.locations.services/create
  if (!/^[a-z][a-z0-9-]{0,61}[a-z0-9]$/i.test(id))
    throw new ApiError(400, `Could not create Cloud Run service ${id}: it is no name of letters, digits and dashes.`);
  // https://cloud.google.com/resource-manager/docs/labels-overview#requirements
  for (const [key, value] of Object.entries(labels))
    if (!/^[a-z][a-z0-9_-]{0,62}$/.test(key) || !/^[a-z0-9_-]{0,63}$/.test(value))
      throw new ApiError(400, `The label ${key}=${value} is invalid.`);
  // https://cloud.google.com/run/docs/configuring/services/cpu
  const { maxInstanceRequestConcurrency = 1, availableCpu = "1", environmentVariables = {} } = serviceConfig;
  if (maxInstanceRequestConcurrency > 1 && Number(availableCpu) < 1)
    throw new ApiError(400, "Total cpu < 1 is not supported with concurrency > 1.");
  checkVariables(environmentVariables);
  checkAccount(cloud, id, serviceConfig.serviceAccountEmail);
  if (!eventTrigger?.eventType.startsWith("google.cloud.firestore")) return;
  const database = eventTrigger.eventFilters?.find(({ attribute }) => attribute === "database")?.value;
  const known = cloud.databases.get(`projects/${cloud.project}/databases/${database}`);
  if (!known) throw new ApiError(400, `The database ${database} does not exist.`);
  // https://cloud.google.com/eventarc/docs/run/create-trigger-firestore: the trigger's location is the database's.
  if (eventTrigger.triggerRegion !== known.locationId)
    throw new ApiError(
      400,
      `The trigger is in ${eventTrigger.triggerRegion}, and the database is in ${known.locationId}.`,
    );
}

/** https://cloud.google.com/functions/docs/configuring/env-var */
function checkVariables(variables: Readonly<Record<string, string>>): void {
  if (JSON.stringify(variables).length > 32_768) throw new ApiError(400, "Environment variables exceed 32 KiB.");
  const reserved = Object.keys(variables).find((name) =>
    /^(X_GOOGLE_|K_(SERVICE|REVISION|CONFIGURATION)$|PORT$)/.test(name),
  );
  if (reserved) throw new ApiError(400, `The environment variable ${reserved} is reserved.`);
}

function checkAccount(cloud: Cloud, id: string, account: string | undefined): void {
  if (account === undefined || account === null) return;
  // It means the default account. In a job it does not, and one parameter is the source of both.
  if (account === "") cloud.problems.add(`${id}: its account is an empty text`);
  else if (!isEmail(account))
    // What Cloud Functions answers is not known.
    cloud.problems.add(`${id}: its account ${account} is not an email`);
  // `isServiceAccountPropagationError` in firebase-tools/lib/deploy/functions/release/executor.js
  else if (account.startsWith("firebase-fn-") && !cloud.accounts.has(account))
    throw new ApiError(403, `Permission denied on service account ${account} (or it may not exist).`);
}

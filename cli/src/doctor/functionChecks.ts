/** Whether the functions are deployed for this database and collection, complete, in one piece, and near the database. */
import {
  type Deployment,
  deploymentsFor,
  FUNCTIONS,
  type FunctionName,
  findDeployments,
  variablesOf,
} from "./deployments.ts";
import { type DeployedFunction, type ProjectFacts, seen } from "./facts.ts";
import { errorFinding, type Finding, listed, warningFinding } from "./finding.ts";

const DEPLOY = "run `firebase deploy --only functions`";

export function checkFunctions(facts: ProjectFacts): Finding[] {
  const functions = seen(facts.functions);
  if (!functions) return [];
  const deployments = deploymentsFor(functions, facts.target);
  const [first, second] = deployments;
  if (!first) return [missing(facts, findDeployments(functions))];
  return [
    ...(second ? [twice(first, second)] : []),
    ...deployments.flatMap((deployment) => CHECKS.flatMap((check) => check(deployment, facts))),
  ];
}

function missing({ target }: ProjectFacts, elsewhere: readonly Deployment[]): Finding {
  const [other] = elsewhere;
  const here = `the collection "${target.collection}" of the database "${target.database}"`;
  if (!other) {
    return errorFinding(
      "functions-missing",
      `no functions of Tally are deployed for ${here}, so no total is published`,
      `deploy them (README, "Deploy"): ${DEPLOY}`,
    );
  }
  return errorFinding(
    "functions-elsewhere",
    `${other.prefix} counts in the collection "${other.collection}" of the database "${other.database}", and no functions count in ${here}`,
    `set COLLECTION and DATABASE_ID to these and ${DEPLOY}; or name the others with --collection and --database`,
  );
}

function twice(one: Deployment, other: Deployment): Finding {
  return warningFinding(
    "functions-twice",
    `${one.prefix} and ${other.prefix} count in the same collection: each write costs two invocations, and one may undo the other's shard count`,
    `delete one of them, such as \`firebase functions:delete ${other.prefix}-wake …\` or \`firebase ext:uninstall\``,
  );
}

type Check = (deployment: Deployment, facts: ProjectFacts) => Finding[];

const isComplete: Check = (deployment) => {
  const { prefix, functions } = deployment;
  // Without BRIDGE it has nothing to do.
  const isNeeded = (name: FunctionName) => name !== "bridge" || Boolean(variablesOf(deployment)?.BRIDGE);
  const missing = FUNCTIONS.filter((name) => !functions.has(name) && isNeeded(name));
  if (missing.length === 0) return [];
  return [
    errorFinding(
      "functions-incomplete",
      `${listed(missing.map((name) => `${prefix}-${name}`))} ${missing.length === 1 ? "is" : "are"} not deployed: ${EFFECTS[missing[0] as FunctionName]}`,
      DEPLOY,
    ),
  ];
};

/** What fails without a function. */
const EFFECTS: Readonly<Record<FunctionName, string>> = {
  wake: "new shards are noticed late or never",
  wakezero: "totals of quiet counters stop",
  wakebase: "resets and increments of servers are published late",
  created: "created documents of the counted collection are not counted",
  deleted: "deleted documents of the counted collection are still counted",
  bridge: "increments of old apps are not counted",
  aggregate: "totals of busy counters stop",
  sweep: "a measurement that was lost is never repeated, and nothing is reconciled",
};

const isActive: Check = ({ functions }) =>
  [...functions.values()]
    .filter(({ state }) => state !== "ACTIVE")
    .map(({ name, state }) =>
      state === "DEPLOYING"
        ? warningFinding("function-state", `${name} is being deployed`, "wait, and run doctor again")
        : errorFinding(
            "function-state",
            `${name} is ${state}: it does not run`,
            `look at its log (\`firebase functions:log --only ${name}\`), then ${DEPLOY}`,
          ),
    );

const retries: Check = ({ functions }) => {
  const once = [...functions.values()].filter(({ trigger }) => trigger?.retries === false).map(({ name }) => name);
  if (once.length === 0) return [];
  return [
    errorFinding(
      "function-retry",
      `${listed(once)} ${once.length === 1 ? "does" : "do"} not retry failed events, so a write during an outage may stay unpublished`,
      `${DEPLOY}; do not switch retries off in the console`,
    ),
  ];
};

/** The document that triggers each function, below the collection. */
const PATTERNS: Partial<Record<FunctionName, RegExp>> = {
  wake: /^\/\{\w+\}\/shards\/\{\w+\}$/,
  wakezero: /^\/\{\w+\}\/shards\/0$/,
  wakebase: /^\/\{\w+\}\/shards\/base$/,
};

const triggersMatch: Check = (deployment) => {
  const { functions, collection, database } = deployment;
  const counted = variablesOf(deployment)?.COUNTED_COLLECTION;
  const isRight = (name: FunctionName, document: string) => {
    if (name === "bridge") return true;
    const pattern = PATTERNS[name];
    if (pattern) return document.startsWith(`${collection}/`) && pattern.test(document.slice(collection.length));
    return counted === undefined || document === `${counted}/{document}`;
  };
  const wrong = [...functions].filter(
    ([name, { trigger }]) =>
      trigger?.document && (!isRight(name, trigger.document) || (trigger.database ?? database) !== database),
  );
  if (wrong.length === 0) return [];
  return [
    errorFinding(
      "function-trigger",
      `${listed(wrong.map(([, { name, trigger }]) => `${name} listens to ${trigger?.document} of ${trigger?.database ?? database}`))}, which is not what its parameters say`,
      `deploy all functions together: ${DEPLOY}`,
    ),
  ];
};

/** The regions beside each multi-region (https://firebase.google.com/docs/firestore/locations). */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  nam5: ["us-central1", "us-east1"],
  nam7: ["us-central1", "us-east4"],
  eur3: ["europe-west1", "europe-west4"],
};

const isNear: Check = ({ prefix, functions }, { database }) => {
  const location = seen(database)?.locationId;
  const region = functions.get("aggregate")?.region ?? functions.get("wake")?.region;
  if (!location || !region) return [];
  const near = BESIDE[location] ?? [location];
  if (near.includes(region)) return [];
  return [
    warningFinding(
      "region-far",
      `${prefix} runs in ${region} and the database is in ${location}: each total is later by several round trips`,
      `set LOCATION to ${listed(near).replace(" and ", " or ")} if functions run there, and deploy again`,
    ),
  ];
};

const eventsArrive: Check = ({ functions }, { database }) => {
  const location = seen(database)?.locationId;
  const wrong = [...functions.values()].filter(({ trigger }) => trigger?.region && trigger.region !== location);
  const [first] = wrong;
  if (!location || !first) return [];
  return [
    errorFinding(
      "trigger-region",
      `${listed(wrong.map(({ name }) => name))} ${wrong.length === 1 ? "waits" : "wait"} for events from ${first.trigger?.region}, and the database is in ${location}: no event arrives`,
      `set DATABASE_REGION to ${location} (extension), or delete these functions, and deploy again`,
    ),
  ];
};

const isInOnePlace: Check = (deployment) => {
  const { prefix, functions } = deployment;
  const regions = [...new Set([...functions.values()].map(({ region }) => region))];
  const location = variablesOf(deployment)?.LOCATION;
  const aggregate = functions.get("aggregate")?.region;
  if (location !== undefined && aggregate !== undefined && location !== aggregate) {
    return [
      errorFinding(
        "region-queue",
        `LOCATION is ${location}, and ${prefix}-aggregate with its queue is in ${aggregate}: no task is scheduled`,
        `${DEPLOY}, and delete the functions of the old region`,
      ),
    ];
  }
  if (regions.length < 2) return [];
  return [
    warningFinding(
      "region-split",
      `the functions of ${prefix} are in ${listed(regions)}`,
      `set one LOCATION, ${DEPLOY}, and delete the functions of the old region`,
    ),
  ];
};

/** The oldest runtime that the functions' dependencies support. */
const OLDEST_NODE = 22;

const isRuntimeSupported: Check = ({ prefix, functions }) => {
  const old = (one: DeployedFunction) =>
    Number(/^nodejs(\d+)$/.exec(one.runtime ?? "")?.[1] ?? OLDEST_NODE) < OLDEST_NODE;
  const found = [...functions.values()].find(old);
  if (!found) return [];
  return [
    errorFinding(
      "runtime",
      `${prefix} runs on ${found.runtime}, which the functions do not support`,
      `set "runtime": "nodejs24" in firebase.json, and ${DEPLOY}`,
    ),
  ];
};

const CHECKS: readonly Check[] = [
  isComplete,
  isActive,
  retries,
  triggersMatch,
  eventsArrive,
  isInOnePlace,
  isNear,
  isRuntimeSupported,
];

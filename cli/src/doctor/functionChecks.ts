/** Whether the functions are deployed for this database and collection, complete, in one piece, and near the database. */
import { NO_COUNTED_COLLECTION } from "../../../core/src/index.ts";
import { FUNCTIONS, type FunctionName } from "../../../functions/src/decisions.ts";
import { NO_TOPIC } from "../../../functions/src/deploy/parseConfig.ts";
import { type Deployment, type DeploymentCheck, deploymentsFor, findDeployments, variablesOf } from "./deployments.ts";
import { type DeployedFunction, type ProjectFacts, seen } from "./facts.ts";
import { DEPLOY_FUNCTIONS, errorFinding, type Finding, listed, warningFinding } from "./finding.ts";
import { REGION_CHECKS } from "./regionChecks.ts";

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

function missing({ target, suite }: ProjectFacts, elsewhere: readonly Deployment[]): Finding {
  const [other] = elsewhere;
  const here = `the collection "${target.collection}" of the database "${target.database}"`;
  if (!other && seen(suite)) {
    return errorFinding(
      "functions-missing",
      `the Functions emulator has loaded no functions of Tally for ${here}, so no total is published`,
      'install the packages of the functions, such as `npm install --prefix tally`, and look at its output for an error; "functions" in firebase.json must name their folder, as `npx firestore-tally init` writes it',
    );
  }
  if (!other) {
    return errorFinding(
      "functions-missing",
      `no functions of Tally are deployed for ${here}, so no total is published`,
      `deploy them: ${DEPLOY_FUNCTIONS}; or count without them: let hasFunctions of the rules' policy return false`,
    );
  }
  return errorFinding(
    "functions-elsewhere",
    `${other.prefix} counts in the collection "${other.collection}" of the database "${other.database}", and no functions count in ${here}`,
    `set COLLECTION and DATABASE_ID to these and ${DEPLOY_FUNCTIONS}; or name the others with --collection and --database`,
  );
}

function twice(one: Deployment, other: Deployment): Finding {
  return warningFinding(
    "functions-twice",
    `${one.prefix} and ${other.prefix} count in the same collection: each write costs two invocations, and one may undo the other's shard count`,
    `delete one of them, such as \`firebase functions:delete ${other.prefix}-shardcreated …\` or \`firebase ext:uninstall\``,
  );
}

const isComplete: DeploymentCheck = (deployment) => {
  const { prefix, functions } = deployment;
  const isNeeded = (name: FunctionName) => {
    const values = SWITCHES[name]?.map((parameter) => variablesOf(deployment)?.[parameter] ?? "");
    return values?.every((value) => ["", "no", NO_TOPIC, NO_COUNTED_COLLECTION].includes(value)) !== true;
  };
  const missing = FUNCTIONS.filter((name) => !functions.has(name) && isNeeded(name));
  if (missing.length === 0) return [];
  return [
    errorFinding(
      "functions-incomplete",
      `${listed(missing.map((name) => `${prefix}-${name}`))} ${missing.length === 1 ? "is" : "are"} not deployed: ${EFFECTS[missing[0] as FunctionName]}`,
      DEPLOY_FUNCTIONS,
    ),
  ];
};

/** Functions that are deployed only if one of these parameters turns a feature on: `omit` in functions/src/deploy/triggers.ts. */
const SWITCHES: Partial<Record<FunctionName, readonly string[]>> = {
  documentcreated: ["COUNTED_COLLECTION"],
  documentdeleted: ["COUNTED_COLLECTION"],
  shardupdated: ["ADOPTED"],
  legacyshardwritten: ["BRIDGE"],
  mergevisitors: ["VISITORS"],
  mergeitems: ["ITEMS"],
  merge: ["VISITORS", "ITEMS"],
  exchange: ["REGIONS"],
  ingest: ["INGEST_COUNTERS"],
  ingestmessages: ["INGEST_TOPIC"],
  logevents: ["EVENTS_TOPIC"],
  logincrements: ["EVENTS_COLLECTION"],
  totals: ["TOTALS_COUNTERS"],
};

/** What fails without a function. */
const EFFECTS: Readonly<Record<FunctionName, string>> = {
  shardcreated: "new shards are noticed late or never",
  shardzeroupdated: "totals of quiet counters stop",
  baseupdated: "resets and increments of servers are published late",
  shardupdated: "what old apps add to counters with num_shards is published late",
  documentcreated: "created documents of the counted collection are not counted",
  documentdeleted: "deleted documents of the counted collection are still counted",
  legacyshardwritten: "increments of old apps are not counted",
  mergevisitors: "visitors are not counted",
  mergeitems: "items that events bring are not counted",
  ingest: "events that pages and servers send are not counted",
  logevents: "events of ingest are not published to EVENTS_TOPIC",
  logincrements: "increments with once are not published to EVENTS_TOPIC",
  ingestmessages: "events that are published to INGEST_TOPIC are not counted",
  totals: "totals cannot be read by HTTP",
  aggregate: "totals of busy counters stop",
  merge: "visitors and items are not counted while they are many",
  exchange: "other regions do not get the totals",
  sweep: "a measurement that was lost is never repeated, and nothing is reconciled",
};

const isActive: DeploymentCheck = ({ functions }) =>
  [...functions.values()]
    .filter(({ state }) => state !== "ACTIVE")
    .map(({ name, state }) =>
      state === "DEPLOYING"
        ? warningFinding("function-state", `${name} is being deployed`, "wait, and run doctor again")
        : errorFinding(
            "function-state",
            `${name} is ${state}: it does not run`,
            `look at its log (\`firebase functions:log --only ${name}\`), then ${DEPLOY_FUNCTIONS}`,
          ),
    );

const retries: DeploymentCheck = ({ functions }) => {
  const once = [...functions.values()].filter(({ trigger }) => trigger?.retries === false).map(({ name }) => name);
  if (once.length === 0) return [];
  return [
    errorFinding(
      "function-retry",
      `${listed(once)} ${once.length === 1 ? "does" : "do"} not retry failed events, so a write during an outage may stay unpublished`,
      `${DEPLOY_FUNCTIONS}; do not switch retries off in the console`,
    ),
  ];
};

/** The document that triggers each function, below the collection. */
const PATTERNS: Partial<Record<FunctionName, RegExp>> = {
  shardupdated: /^\/\{\w+\}\/shards\/\{\w+\}$/,
  shardcreated: /^\/\{\w+\}\/shards\/\{\w+\}$/,
  shardzeroupdated: /^\/\{\w+\}\/shards\/0$/,
  baseupdated: /^\/\{\w+\}\/shards\/base$/,
  mergevisitors: /^\/\{\w+\}\/tallyVisitors\/\{\w+\}$/,
  logevents: /^\/\{\w+\}\/tallyOutbox\/\{\w+\}$/,
  mergeitems: /^\/\{\w+\}\/tallyItemCounts\/\{\w+\}$/,
};

const triggersMatch: DeploymentCheck = (deployment) => {
  const { functions, collection, database } = deployment;
  const { COUNTED_COLLECTION: counted, EVENTS_COLLECTION: logged } = variablesOf(deployment) ?? {};
  const isRight = (name: FunctionName, document: string) => {
    if (name === "legacyshardwritten") return true;
    if (name === "logincrements")
      return logged === undefined || document === `${logged}/{counterId}/tallyEntries/{once}`;
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
      `deploy all functions together: ${DEPLOY_FUNCTIONS}`,
    ),
  ];
};

/** The oldest runtime that the functions' dependencies support. */
const OLDEST_NODE = 22;

const isRuntimeSupported: DeploymentCheck = ({ prefix, functions }) => {
  const old = (one: DeployedFunction) =>
    Number(/^nodejs(\d+)$/.exec(one.runtime ?? "")?.[1] ?? OLDEST_NODE) < OLDEST_NODE;
  const found = [...functions.values()].find(old);
  if (!found) return [];
  return [
    errorFinding(
      "runtime",
      `${prefix} runs on ${found.runtime}, which the functions do not support`,
      `set "runtime": "nodejs24" in firebase.json, and ${DEPLOY_FUNCTIONS}`,
    ),
  ];
};

const CHECKS: readonly DeploymentCheck[] = [
  isComplete,
  isActive,
  retries,
  triggersMatch,
  ...REGION_CHECKS,
  isRuntimeSupported,
];

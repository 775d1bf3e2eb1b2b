/** Whether the functions are deployed for this database and collection, complete, in one piece, and near the database. */
import { FUNCTIONS, isAskedFor } from "../../../functions/src/decisions.ts";
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
  const variables = variablesOf(deployment) ?? {};
  const missing = [...FUNCTIONS].filter(([name, one]) => !functions.has(name) && isAskedFor(one, variables));
  const [first] = missing;
  if (!first) return [];
  const names = listed(missing.map(([name]) => `${prefix}-${name}`));
  return [
    errorFinding(
      "functions-incomplete",
      `${names} ${missing.length === 1 ? "is" : "are"} not deployed: ${first[1].without}`,
      DEPLOY_FUNCTIONS,
    ),
  ];
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

const triggersMatch: DeploymentCheck = (deployment) => {
  const { functions, collection, database } = deployment;
  const variables: Readonly<Record<string, string>> = { ...variablesOf(deployment), COLLECTION: collection };
  const isRight = (name: string, document: string) => {
    const trigger = FUNCTIONS.get(name)?.trigger;
    if (trigger === undefined || !("path" in trigger) || trigger.root === undefined) return true;
    const root = variables[trigger.root];
    return root === undefined || withoutNames(document) === withoutNames(`${root}/${trigger.path}`);
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

/** A path whose wildcards have no names, which do not matter. */
function withoutNames(path: string): string {
  return path.replaceAll(/\{\w+\}/g, "{}");
}

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

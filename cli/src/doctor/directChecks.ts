/**
 * Whether the policy in the rules says of the functions what is deployed: whether there are any, and which groups need them. Clients write
 * the counter documents of all other groups themselves.
 */
import { COUNTING_DEFAULTS, groupsThatNeedPublishes, parseConfig } from "../../../functions/src/decisions.ts";
import { type Declaration, declarationsIn } from "../rulesSyntax/declarations.ts";
import { listIn } from "../setup/rules/policy.ts";
import { type Deployment, deploymentsFor, variablesOf } from "./deployments.ts";
import { type ProjectFacts, seen } from "./facts.ts";
import { errorFinding, type Finding, listed, warningFinding } from "./finding.ts";

const INIT = "run `npx firestore-tally init`, which writes it, and `firebase deploy --only firestore:rules`";

export function checkDirect(facts: ProjectFacts): Finding[] {
  const deployments = deployedHere(facts);
  return [
    ...(deployments.length > 0 && saysNoFunctions(facts) ? [refused()] : []),
    ...deployments.flatMap((deployment) => missingGroups(deployment, facts)),
  ];
}

/** Whether the project counts without functions: its rules say so, and no functions are seen. */
export function isWithoutFunctions(facts: ProjectFacts): boolean {
  return deployedHere(facts).length === 0 && saysNoFunctions(facts);
}

function deployedHere({ functions, target }: ProjectFacts): Deployment[] {
  return deploymentsFor(seen(functions) ?? [], target);
}

function saysNoFunctions(facts: ProjectFacts): boolean {
  const declared = policyFunction("hasFunctions", facts);
  return declared !== undefined && /^\(\) return false;?$/.test(declared.code);
}

function refused(): Finding {
  return errorFinding(
    "rules-without-functions",
    "hasFunctions of the policy returns false, though functions are deployed: the rules refuse writes of shards, so a counter that the functions have closed takes no increments",
    INIT,
  );
}

/** Groups that the parameters of the functions name, and the policy does not. A policy of another form than `init` writes is not judged. */
function missingGroups(deployment: Deployment, facts: ProjectFacts): Finding[] {
  const declared = policyFunction("needsFunctions", facts);
  const present = declared && listIn(seen(facts.rules)?.source ?? "", declared)?.groups;
  if (!present || present === "all") return [];
  const needed = neededBy(deployment, facts);
  const missing = needed === "all" ? ["all groups"] : needed.filter((group) => !present.includes(group));
  if (missing.length === 0) return [];
  return [
    warningFinding(
      "rules-needs-functions",
      `needsFunctions of the policy leaves out ${listed(missing)}, by the parameters of ${deployment.prefix}: clients write these counters' documents, so windows, history, mirrors and other regions miss what they count`,
      INIT,
    ),
  ];
}

/** Parameters that are not valid are another finding. */
function neededBy(deployment: Deployment, { target }: ProjectFacts): readonly string[] | "all" {
  const values = variablesOf(deployment);
  if (!values) return [];
  try {
    return groupsThatNeedPublishes(parseConfig({ ...COUNTING_DEFAULTS, ...values }, target.emulator !== null));
  } catch {
    return [];
  }
}

/** A function of the policy: in the match of the counters, or the only one of its name. */
function policyFunction(name: string, { rules, target }: ProjectFacts): Declaration | undefined {
  const all = declarationsIn(seen(rules)?.source ?? "");
  const named = all.filter((one) => one.kind === "function" && one.name === name);
  const path = `/${target.collection}/{`;
  const match = all.find((one) => one.kind === "match" && one.name.startsWith(path));
  const own = named.find(({ start }) => match && start > match.start && start < match.end);
  return own ?? (named.length === 1 ? named[0] : undefined);
}

/** All checks, in the order of the report. Each is a pure function of the facts. */

import { checkCounters } from "./counterChecks.ts";
import { checkAppCheck, checkDatabase } from "./databaseChecks.ts";
import { checkExchange } from "./exchangeChecks.ts";
import type { ProjectFacts } from "./facts.ts";
import type { Finding } from "./finding.ts";
import { checkFunctions } from "./functionChecks.ts";
import { checkExemptions, checkGroupIndexes, checkIndexes, checkPlan, checkTtl } from "./indexChecks.ts";
import { checkParameters } from "./parameterChecks.ts";
import { checkGrants, checkQueue, checkSweep } from "./queueChecks.ts";
import { checkRules } from "./rulesChecks.ts";

const CHECKS: readonly ((facts: ProjectFacts) => Finding[])[] = [
  checkDatabase,
  checkRules,
  checkFunctions,
  checkParameters,
  checkQueue,
  checkGrants,
  checkSweep,
  checkIndexes,
  checkExemptions,
  checkGroupIndexes,
  checkTtl,
  checkPlan,
  checkAppCheck,
  checkCounters,
  checkExchange,
];

/** Errors first. */
export function findingsOf(facts: ProjectFacts): Finding[] {
  const findings = CHECKS.flatMap((check) => check(facts));
  return findings.toSorted((a, b) => Number(a.severity === "warning") - Number(b.severity === "warning"));
}

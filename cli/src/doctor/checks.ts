/** All checks, in the order of the report. Each is a pure function of the facts. */

import { checkCounters } from "./counterChecks.ts";
import { checkAppCheck, checkDatabase } from "./databaseChecks.ts";
import { checkDeclared } from "./declaredDatabase.ts";
import { checkDirect, isWithoutFunctions } from "./directChecks.ts";
import { checkEdition, checkSweepIndexes, checkUnusedIndexes, isEnterprise } from "./editionChecks.ts";
import { checkExchange } from "./exchangeChecks.ts";
import type { ProjectFacts } from "./facts.ts";
import type { Finding } from "./finding.ts";
import { checkFunctions } from "./functionChecks.ts";
import { checkExemptions, checkGroupIndexes, checkIndexes, checkPlan, checkTtl } from "./indexChecks.ts";
import { checkMirrors } from "./mirrorChecks.ts";
import { checkParameters } from "./parameterChecks.ts";
import { checkGrants, checkQueue, checkSweep, checkTasks } from "./queueChecks.ts";
import { checkRules } from "./rulesChecks.ts";
import { checkSuite } from "./suiteChecks.ts";
import { checkWaiting } from "./waitingChecks.ts";

type Check = (facts: ProjectFacts) => Finding[];

/** Without the indexes that the Standard edition needs, Enterprise serves every query. */
const onStandard =
  (check: Check): Check =>
  (facts) =>
    isEnterprise(facts) ? [] : check(facts);

/** What the functions need is not missed by a project that counts without them. */
const withFunctions =
  (check: Check): Check =>
  (facts) =>
    isWithoutFunctions(facts) ? [] : check(facts);

const CHECKS: readonly Check[] = [
  checkDatabase,
  checkDeclared,
  checkRules,
  withFunctions(checkSuite),
  withFunctions(checkFunctions),
  checkDirect,
  checkParameters,
  checkEdition,
  checkQueue,
  checkTasks,
  checkGrants,
  checkSweep,
  onStandard(withFunctions(checkIndexes)),
  onStandard(withFunctions(checkExemptions)),
  onStandard(withFunctions(checkGroupIndexes)),
  withFunctions(checkTtl),
  onStandard(withFunctions(checkPlan)),
  withFunctions(checkSweepIndexes),
  checkUnusedIndexes,
  checkAppCheck,
  checkCounters,
  checkWaiting,
  checkExchange,
  checkMirrors,
];

/** Errors first. */
export function findingsOf(facts: ProjectFacts): Finding[] {
  const findings = CHECKS.flatMap((check) => check(facts));
  return findings.toSorted((a, b) => Number(a.severity === "warning") - Number(b.severity === "warning"));
}

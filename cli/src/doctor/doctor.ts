/**
 * `doctor`: is this project set up right? Reads what is deployed and a sample of the counters, and prints what is wrong, with
 * the remedy for each finding. It never writes.
 */
import { fileURLToPath } from "node:url";
import type { CommandContext } from "../commandContext.ts";
import { FAILED } from "../commandError.ts";
import { readText } from "../databaseTarget.ts";
import { printJson } from "../output.ts";
import { findingsOf } from "./checks.ts";
import { printReport } from "./doctorReport.ts";
import type { Finding } from "./finding.ts";
import { readProject } from "./readProject.ts";
import { type Unseen, unseenOf } from "./unseen.ts";

interface DoctorOptions {
  readonly sample: number;
  readonly strict?: boolean;
}

/** Sets the exit code if there are errors; with `--strict` also for warnings and for what could not be seen. */
export async function doctor(context: CommandContext, { sample, strict = false }: DoctorOptions): Promise<void> {
  const facts = await readProject(context, { sample, readShipped });
  const findings = findingsOf(facts);
  const unseen = unseenOf(facts);
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const warnings = findings.length - errors;
  if (context.json) {
    const { counters, plan, reads, target } = facts;
    const sampled =
      "value" in counters ? { counters: counters.value.counters.length, allCounters: counters.value.isComplete } : {};
    printJson({
      ...target,
      errors,
      warnings,
      findings,
      unseen,
      ...sampled,
      plan: "value" in plan ? plan.value : null,
      reads,
    });
  } else printReport(facts, findings, unseen);
  if (isFailure(findings, unseen, strict)) process.exitCode = FAILED;
}

export function isFailure(findings: readonly Finding[], unseen: readonly Unseen[], strict: boolean): boolean {
  return findings.some(({ severity }) => severity === "error") || (strict && findings.length + unseen.length > 0);
}

/** They are part of the package, beside the folder of the built command line. */
function readShipped(file: string): string {
  return readText(fileURLToPath(new URL(`../${file}`, import.meta.url)));
}

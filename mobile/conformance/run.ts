/**
 * `npm run conformance`: holds the planners of the mobile clients to docs/vectors.json, each in its own language, and says
 * which ran and which did not, for want of a compiler. With swiftc 6.2 or newer, it also compiles and runs the rest of the iOS
 * client. Node 24 runs it without `npm install`.
 *
 * Exit code 0: all that ran did as it must. `--must-run swift,dart`: that of those languages must have run.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { casesOf, readVectors, wrongAnswers } from "./cases.ts";
import type { Language } from "./planner.ts";
import { build, checkSwiftClient, MissingToolchain } from "./toolchains.ts";

export interface Outcome {
  readonly language: Language;
  /** Why nothing was compiled. */
  readonly skipped?: string;
  /** What the compiler or the program says, if it failed. */
  readonly failed?: string;
  readonly questions: number;
  readonly wrong: readonly string[];
}

export function conform(language: Language): Outcome {
  const cases = casesOf(readVectors());
  const folder = mkdtempSync(join(tmpdir(), "tally-conformance-"));
  try {
    const [program, ...args] = build(language, folder);
    const input = `${cases.map(({ question }) => question).join("\n")}\n`;
    const { status, stdout, stderr, error } = spawnSync(program, args, { input, encoding: "utf8", maxBuffer: 1e8 });
    if (status !== 0) throw new Error(`the program failed: ${error ?? stderr}`);
    return { language, questions: cases.length, wrong: wrongAnswers(cases, stdout.trimEnd().split("\n")) };
  } catch (error) {
    const { message } = error as Error;
    const why = error instanceof MissingToolchain ? { skipped: message } : { failed: message };
    return { language, ...why, questions: cases.length, wrong: [] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What checking the calls of the SDK in Tally.swift has come to, and whether that is a failure. */
function checkClient(mustRun: boolean): { says: string; hasFailed: boolean } {
  const folder = mkdtempSync(join(tmpdir(), "tally-swift-"));
  try {
    checkSwiftClient(folder);
    return { says: "compiled in each mode and run, against declarations of ours of the SDK", hasFailed: false };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof MissingToolchain) return { says: `SKIPPED, not compiled. ${message}`, hasFailed: mustRun };
    return { says: `FAILED. ${message}`, hasFailed: true };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report({ language, skipped, failed, questions, wrong }: Outcome): string {
  if (skipped) return `${language}: SKIPPED, nothing was compiled or run. ${skipped}`;
  if (failed) return `${language}: FAILED, it does not compile or does not run. ${failed}`;
  if (wrong.length > 0)
    return `${language}: FAILED, ${wrong.length} of ${questions} answers are wrong\n${wrong.join("\n")}`;
  return `${language}: compiled and run, ${questions} questions answered as the vectors say`;
}

if (import.meta.main) {
  const at = process.argv.indexOf("--must-run");
  const required = at < 0 ? [] : (process.argv[at + 1] ?? "").split(",");
  for (const language of ["kotlin", "swift", "dart"] as const) {
    const outcome = conform(language);
    console.log(report(outcome));
    const isMissing = outcome.skipped !== undefined && required.includes(language);
    if (isMissing || outcome.failed !== undefined || outcome.wrong.length > 0) process.exitCode = 1;
    if (language !== "swift" || outcome.skipped !== undefined) continue;
    const { says, hasFailed } = checkClient(required.includes(language));
    console.log(`swift, calls of the SDK: ${says}`);
    if (hasFailed) process.exitCode = 1;
  }
}

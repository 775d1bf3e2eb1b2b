/**
 * `npm run conformance`: holds the planners of the mobile clients to docs/vectors.json, each in its own language, and says
 * which ran and which did not, for want of a compiler. Node 24 runs it without `npm install`.
 *
 * Exit code 0: every planner that ran answered as it must. `--require swift,dart`: those must have run.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { casesOf, readVectors, wrongAnswers } from "./cases.ts";
import type { Language } from "./planner.ts";
import { build, MissingToolchain } from "./toolchains.ts";

export interface Outcome {
  readonly language: Language;
  /** Why it did not run. */
  readonly skipped?: string;
  readonly questions: number;
  readonly wrong: readonly string[];
}

/** @throws Error if the program does not compile or fails */
export function conform(language: Language): Outcome {
  const cases = casesOf(readVectors());
  const folder = mkdtempSync(join(tmpdir(), "tally-conformance-"));
  try {
    const [program, ...args] = build(language, folder);
    const input = `${cases.map(({ question }) => question).join("\n")}\n`;
    const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: "utf8", maxBuffer: 1e8 });
    if (status !== 0) throw new Error(`${language}: the program failed\n${stderr}`);
    return { language, questions: cases.length, wrong: wrongAnswers(cases, stdout.trimEnd().split("\n")) };
  } catch (error) {
    if (error instanceof MissingToolchain) return { language, skipped: error.message, questions: 0, wrong: [] };
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const at = process.argv.indexOf("--require");
  const required = at < 0 ? [] : (process.argv[at + 1] ?? "").split(",");
  for (const language of ["kotlin", "swift", "dart"] as const) {
    const { skipped, questions, wrong } = conform(language);
    if (skipped) console.log(`${language}: SKIPPED, nothing was compiled or run. ${skipped}`);
    else if (wrong.length === 0)
      console.log(`${language}: compiled and run, ${questions} questions answered as the vectors say`);
    else console.log(`${language}: ${wrong.length} of ${questions} answers are wrong\n${wrong.join("\n")}`);
    if (wrong.length > 0 || (skipped && required.includes(language))) process.exitCode = 1;
  }
}

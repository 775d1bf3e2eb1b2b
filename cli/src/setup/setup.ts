/** What `init`, `upgrade` and `remove` have in common: the diff is shown, the question asked, the files written, the next step named. */
import { confirm } from "@clack/prompts";
import { CommandError, FAILED, WRONG_USAGE } from "../commandError.ts";
import { paint, print, printJson, printStatus } from "../output.ts";
import { type FileChange, makeChanges, printDiff, realChanges } from "./changes.ts";

export interface SetupOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export interface Plan {
  readonly changes: readonly FileChange[];
  /** What the developer has to know before the changes. */
  readonly first?: string;
  /** What the developer has to know, or to decide. */
  readonly notes: readonly string[];
  /** The command to run next; `undefined` if there is none. */
  readonly next: string | undefined;
  /** Where to read on. */
  readonly page: string;
}

/** @throws CommandError without a terminal to ask in, or if the answer is no */
export async function carryOut(folder: string, plan: Plan, { yes, dryRun, json }: SetupOptions): Promise<void> {
  const changes = realChanges(plan.changes);
  const hasTerminal = process.stdin.isTTY && process.stderr.isTTY;
  if (changes.length > 0 && !yes && !dryRun && !hasTerminal)
    throw new CommandError(
      WRONG_USAGE,
      "there is no terminal to ask in; pass --yes to make the changes, or --dry-run to see them",
    );
  const { first, notes, next, page } = plan;
  if (json) {
    const kindOf = ({ before, after }: FileChange) =>
      before === undefined ? "created" : after === undefined ? "deleted" : "changed";
    printJson({ first, files: changes.map((one) => ({ path: one.path, change: kindOf(one) })), notes, next });
  } else {
    if (first !== undefined) print(first);
    printDiff(changes, dryRun === true);
    for (const note of notes) print(`${paint("yellow", "note:")} ${note}`);
  }
  if (changes.length === 0) {
    printStatus("Nothing to change.");
    return;
  }
  if (dryRun) return;
  if (!yes) await ask(changes.length);
  makeChanges(folder, changes);
  if (!json) print(`\nDone.${next === undefined ? "" : ` Run next:\n\n  ${paint("bold", next)}\n`}\nThen read ${page}`);
}

async function ask(files: number): Promise<void> {
  const answer = await confirm({
    message: `Write ${files === 1 ? "this file" : `these ${files} files`}?`,
    output: process.stderr,
  });
  if (answer !== true) throw new CommandError(FAILED, "not confirmed; nothing was changed");
}

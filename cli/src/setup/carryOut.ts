/** Carries out the plan of `init`, `upgrade` or `remove`: shows the changes, asks, writes the files and names the next command. */
import { isCancel, select } from "@clack/prompts";
import { CommandError, FAILED, INTERRUPTED, WRONG_USAGE } from "../commandError.ts";
import { paint, print, printJson, printStatus, printText } from "../output.ts";
import { effectOf, type FileChange, makeChanges, printDiff, realChanges, summaryOf } from "./changes.ts";

export interface SetupOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly diff?: boolean;
  readonly json?: boolean;
}

export interface Plan {
  /** In the order in which they are made: a run that is killed between two of them, and run again, ends as one undisturbed run. */
  readonly changes: readonly FileChange[];
  /** What the developer has to know before the changes. */
  readonly clientChanges?: string;
  /** What the developer has to do, or to decide. */
  readonly notes: readonly string[];
  /** The command to run next, in the folder of the project; `undefined` if there is nothing to do. */
  readonly nextCommand: string | undefined;
  /** Where to read on. */
  readonly readOn: string;
}

/** @throws CommandError without a terminal to ask in, or if the answer is no */
export async function carryOut(folder: string, plan: Plan, options: SetupOptions): Promise<void> {
  const { yes, dryRun, diff, json } = options;
  const changes = realChanges(plan.changes);
  const hasTerminal = process.stdin.isTTY && process.stderr.isTTY;
  if (changes.length > 0 && !yes && !dryRun && !hasTerminal)
    throw new CommandError(
      WRONG_USAGE,
      "there is no terminal to ask in; pass --yes to make the changes, or --dry-run to see them",
    );
  const { clientChanges, notes, nextCommand, readOn } = plan;
  const isElsewhere = folder !== process.cwd();
  if (json) {
    const files = changes.map((change) => ({ path: change.path, change: effectOf(change) }));
    printJson({ folder, first: clientChanges, files, notes, next: nextCommand });
  } else {
    if (clientChanges !== undefined) printText(clientChanges);
    if (isElsewhere) print(`In ${folder}:`);
    if (diff) printDiff(changes);
    else for (const change of changes) print(paint("bold", summaryOf(change)));
    for (const note of notes) printText(`${paint("yellow", "note:")} ${note}`);
  }
  if (changes.length === 0) printStatus("Nothing to change.");
  else if (dryRun) printStatus("Dry run: nothing was written. To make these changes, leave out --dry-run.");
  if (dryRun) return;
  if (changes.length > 0 && !yes) await confirmChanges(changes);
  // Also without a change: a run that was killed may have left a temporary file.
  makeChanges(folder, plan.changes);
  if (json) return;
  if (changes.length > 0) print("\nDone.");
  if (nextCommand !== undefined)
    print(`Run next${isElsewhere ? `, in ${folder}` : ""}:\n\n  ${paint("bold", nextCommand)}\n`);
  print(`Then read ${readOn}`);
}

async function confirmChanges(changes: readonly FileChange[]): Promise<void> {
  for (;;) {
    const answer = await select({
      message: `Write ${changes.length === 1 ? "this file" : `these ${changes.length} files`}?`,
      options: [
        { value: "yes" as const, label: "Yes" },
        { value: "no" as const, label: "No" },
        { value: "diff" as const, label: "Show the diff" },
      ],
      output: process.stderr,
    });
    if (isCancel(answer)) throw new CommandError(INTERRUPTED, "interrupted; nothing was changed");
    if (answer === "no")
      throw new CommandError(FAILED, "not confirmed; nothing was changed. Run this again at any time");
    if (answer === "yes") return;
    printDiff(changes);
  }
}

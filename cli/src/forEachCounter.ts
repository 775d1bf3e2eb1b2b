/**
 * Does the same work on each selected counter, several at a time, and can be resumed.
 *
 * Counters finish in order, so everything up to the last finished id is done, and an interrupted run resumes with `--after`
 * that id. Counters that were in progress are done again then, so the work must be repeatable.
 *
 *     done ──────────────▶│ in progress │ not started
 *     a  b  c  d  e  f  g │ h  i  j     │ k  l  m …
 *                       ▲ --after g
 */

import type { CounterRef } from "../../admin/src/index.ts";
import { isCounterError } from "../../core/src/index.ts";
import type { CommandContext } from "./commandContext.ts";
import { CommandError, FAILED, toCommandError } from "./commandError.ts";
import { escapeControls, shellQuote } from "./escape.ts";
import { pluralize } from "./format.ts";
import { interruptible, OutcomeUnknown } from "./interruptible.ts";
import { paint, printStatus } from "./output.ts";
import { startProgressBar } from "./progressBar.ts";
import { countSelected, type Selection, selectedIds } from "./selection.ts";

export interface CounterTask<Result> {
  /** For the progress bar: `Deleting`. */
  readonly label: string;
  /**
   * The work on one counter. It must be repeatable, and safe to abandon at any point.
   *
   * @param onProgress  takes the share that is done, 0 to 1
   */
  readonly work: (ref: CounterRef, onProgress: (share: number) => void) => Promise<Result>;
  /** More text for the progress bar. */
  readonly detail?: () => string;
}

/** A counter's result, or why it failed. */
export type Outcome<Result> = { readonly id: string } & (Result | { readonly error: string });

export interface Run<Result> {
  readonly outcomes: Outcome<Result>[];
  /** Selected counters at the start. */
  readonly selected: number;
  /** The last finished counter, for `--after`. */
  after: string | undefined;
  /** Why the run ended early. */
  endedBy?: CommandError;
}

/** Counters in progress at a time. */
const CONCURRENCY = 8;

/**
 * An error of one counter is recorded, and the run continues. Any other error ends the run, as do Ctrl-C and minutes
 * without progress. Cost: 1 read per counter of a group, and the cost of the work.
 */
export async function forEachCounter<Result>(
  context: CommandContext,
  selection: Selection,
  task: CounterTask<Result>,
): Promise<Run<Result>> {
  // Rejects an invalid id before any I/O on the others.
  for (const id of selection.ids) context.ref(id);
  const selected = await countSelected(context, selection);
  const run: Run<Result> = { outcomes: [], selected, after: selection.after };
  const shares = new Map<string, number>();
  const bar = startProgressBar(task.label, selected, () => ({
    value: run.outcomes.length + [...shares.values()].reduce((sum, share) => sum + share, 0),
    text: [`${run.outcomes.length}/${pluralize(selected, "counter")}`, ...(task.detail ? [task.detail()] : [])].join(
      " · ",
    ),
  }));
  try {
    await interruptible((madeProgress) => runInOrder(context, selection, task, run, shares, madeProgress));
  } catch (error) {
    run.endedBy = toCommandError(error);
  } finally {
    bar?.stop();
  }
  return run;
}

async function runInOrder<Result>(
  context: CommandContext,
  selection: Selection,
  { work }: CounterTask<Result>,
  run: Run<Result>,
  shares: Map<string, number>,
  madeProgress: () => void,
): Promise<void> {
  const setShare = (id: string, share: number) => {
    shares.set(id, share);
    madeProgress();
  };
  const inProgress: { id: string; outcome: Promise<Outcome<Result>> }[] = [];
  const finishFirst = async () => {
    const first = inProgress.shift();
    if (!first) return;
    run.outcomes.push(await first.outcome);
    run.after = first.id;
    shares.delete(first.id);
  };
  for await (const id of selectedIds(context, selection)) {
    const outcome = work(context.ref(id), (share) => setShare(id, share)).then(
      (result): Outcome<Result> => ({ id, ...result }),
      (error): Outcome<Result> => {
        if (isCounterError(error)) return { id, error: error.message };
        throw error;
      },
    );
    outcome.then(
      () => setShare(id, 1),
      () => undefined,
    );
    inProgress.push({ id, outcome });
    if (inProgress.length === CONCURRENCY) await finishFirst();
  }
  while (inProgress.length > 0) await finishFirst();
}

/** Whether a counter has a result. */
export function succeeded<Result>(outcome: Outcome<Result>): outcome is { readonly id: string } & Result {
  return !("error" in (outcome as object));
}

/** Reports failed counters, and how to resume. @throws CommandError unless every counter succeeded */
export function throwIfIncomplete<Result>(run: Run<Result>): void {
  const failed = run.outcomes.filter((one): one is Outcome<Result> & { error: string } => !succeeded(one));
  for (const { id, error } of failed) {
    printStatus(`${paint("red", "failed", process.stderr)} ${escapeControls(id)}: ${escapeControls(error)}`);
  }
  if (run.endedBy) {
    const { exitCode, message, cause } = run.endedBy;
    const reached = `${message} after ${run.outcomes.length} of ${pluralize(run.selected, "counter")}`;
    const unknown = run.endedBy instanceof OutcomeUnknown ? " Counters that were in progress may be done or not." : "";
    throw new CommandError(
      exitCode,
      `${reached}.${unknown} Resume with:\n  ${resumeCommand(process.argv.slice(2), run.after)}`,
      cause,
    );
  }
  if (failed.length > 0)
    throw new CommandError(FAILED, `${failed.length} of ${pluralize(run.selected, "counter")} failed`);
}

/** The same command, continued after a counter. */
export function resumeCommand(args: readonly string[], after: string | undefined): string {
  const kept = args.filter(
    (word, i) => word !== "--after" && args[i - 1] !== "--after" && !word.startsWith("--after="),
  );
  const operands = kept.includes("--") ? kept.indexOf("--") : kept.length;
  const words = after === undefined ? args : [...kept.slice(0, operands), "--after", after, ...kept.slice(operands)];
  return ["npx", "firestore-tally", ...words].map(shellQuote).join(" ");
}

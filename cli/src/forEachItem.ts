/**
 * Does the same work on each of many items, such as counters, several at a time, and can be resumed.
 *
 * Items finish in order, so everything up to the last finished id is done, and an interrupted run resumes with `--after` that
 * id. Items that were in progress are done again then, so the work must be repeatable.
 *
 *     done ──────────────▶│ in progress │ not started
 *     a  b  c  d  e  f  g │ h  i  j     │ k  l  m …
 *                       ▲ --after g
 */

import { isCounterError } from "../../core/src/index.ts";
import { CommandError, FAILED, toCommandError } from "./commandError.ts";
import { escapeControls, shellQuote } from "./escape.ts";
import { pluralize } from "./format.ts";
import { interruptible, OutcomeUnknown } from "./interruptible.ts";
import { paint, printStatus } from "./output.ts";
import { startProgressBar } from "./progressBar.ts";

/** What to work on. */
export interface Items {
  /** What one of them is: `counter`. */
  readonly noun: string;
  /** @param madeProgress  to be called after each page of a listing, since it may have no item */
  readonly ids: (madeProgress: () => void) => AsyncIterable<string>;
  /** How many there are at the start. */
  readonly count: number;
  /** The item before the first. */
  readonly after?: string | undefined;
}

export interface Task<Result> {
  /** For the progress bar: `Deleting`. */
  readonly label: string;
  /**
   * The work on one item. It must be repeatable, and safe to abandon at any point.
   *
   * @param onProgress  takes the share that is done, 0 to 1
   */
  readonly work: (id: string, onProgress: (share: number) => void) => Promise<Result>;
  /** More text for the progress bar. */
  readonly detail?: () => string;
}

/** An item's result, or why it failed. */
export type Outcome<Result> = { readonly id: string } & (Result | { readonly error: string });

export interface Run<Result> {
  readonly noun: string;
  readonly outcomes: Outcome<Result>[];
  /** How many items there were at the start. */
  readonly selected: number;
  /** The last finished item, for `--after`. */
  after: string | undefined;
  /** Why the run ended early. */
  endedBy?: CommandError;
}

/** The work on one item has failed, and that says nothing of the others. */
export class ItemError extends Error {}

/** Items in progress at a time. */
const CONCURRENCY = 8;

/**
 * A `CounterError` or an `ItemError` of one item is recorded, and the run continues. Any other error ends the run, as do Ctrl-C and minutes
 * without progress. Cost: that of the ids and of the work.
 */
export async function forEachItem<Result>(items: Items, task: Task<Result>): Promise<Run<Result>> {
  const { noun, count } = items;
  const run: Run<Result> = { noun, outcomes: [], selected: count, after: items.after };
  const shares = new Map<string, number>();
  const bar = startProgressBar(task.label, count, () => ({
    value: run.outcomes.length + [...shares.values()].reduce((sum, share) => sum + share, 0),
    text: [`${run.outcomes.length}/${pluralize(count, noun)}`, ...(task.detail ? [task.detail()] : [])].join(" · "),
  }));
  try {
    await interruptible((madeProgress) => runInOrder(items.ids(madeProgress), task, run, shares, madeProgress));
  } catch (error) {
    run.endedBy = toCommandError(error);
  } finally {
    bar?.stop();
  }
  return run;
}

async function runInOrder<Result>(
  ids: AsyncIterable<string>,
  { work }: Task<Result>,
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
  for await (const id of ids) {
    const outcome = work(id, (share) => setShare(id, share)).then(
      (result): Outcome<Result> => ({ id, ...result }),
      (error): Outcome<Result> => {
        if (isCounterError(error) || error instanceof ItemError) return { id, error: error.message };
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

/** Whether an item has a result. */
export function succeeded<Result>(outcome: Outcome<Result>): outcome is { readonly id: string } & Result {
  return !("error" in (outcome as object));
}

/** Reports failed items, and how to resume. @throws CommandError unless every item succeeded */
export function throwIfIncomplete<Result>(run: Run<Result>): void {
  const failed = run.outcomes.filter((one): one is Outcome<Result> & { error: string } => !succeeded(one));
  for (const { id, error } of failed) {
    printStatus(`${paint("red", "failed", process.stderr)} ${escapeControls(id)}: ${escapeControls(error)}`);
  }
  const all = pluralize(run.selected, run.noun);
  if (run.endedBy) {
    const { exitCode, message, cause } = run.endedBy;
    const reached = `${message} after ${run.outcomes.length} of ${all}`;
    const unknown =
      run.endedBy instanceof OutcomeUnknown
        ? ` ${capitalized(run.noun)}s that were in progress may be done or not.`
        : "";
    throw new CommandError(
      exitCode,
      `${reached}.${unknown} Resume with:\n  ${resumeCommand(process.argv.slice(2), run.after)}`,
      cause,
    );
  }
  if (failed.length > 0) throw new CommandError(FAILED, `${failed.length} of ${all} failed`);
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The same command, continued after an item. */
export function resumeCommand(args: readonly string[], after: string | undefined): string {
  const kept = args.filter(
    (word, i) => word !== "--after" && args[i - 1] !== "--after" && !word.startsWith("--after="),
  );
  const operands = kept.includes("--") ? kept.indexOf("--") : kept.length;
  const words = after === undefined ? args : [...kept.slice(0, operands), "--after", after, ...kept.slice(operands)];
  return ["npx", "firestore-tally", ...words].map(shellQuote).join(" ");
}

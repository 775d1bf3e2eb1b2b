/**
 * `reconcile`: compares counters with their source of truth, and corrects those that have drifted.
 *
 * A source given here applies to every selected counter, with `{id}` and `{name}` filled in. A source without them would give
 * several counters the same total, so it is rejected before it overwrites them.
 */

import { reconcileCounter, setCounterSource } from "../../admin/src/index.ts";
import type { CounterSource } from "../../core/src/index.ts";
import type { CommandContext } from "./commandContext.ts";
import { CommandError, toCommandError, WRONG_USAGE } from "./commandError.ts";
import { confirm } from "./confirm.ts";
import { describeTarget } from "./databaseTarget.ts";
import { escapeControls } from "./escape.ts";
import { forEachCounter } from "./forEachCounter.ts";
import { succeeded, throwIfIncomplete } from "./forEachItem.ts";
import { formatNumber, formatSigned, pluralize } from "./format.ts";
import { paint, print, printJson, printStatus } from "./output.ts";
import { describeGroup, parseSelection, type SelectionOptions } from "./selection.ts";
import { parseSource, type SourceOptions, sourceForCounter } from "./sourceOptions.ts";
import { table } from "./table.ts";

export interface ReconcileOptions extends SelectionOptions, SourceOptions {
  readonly dryRun?: boolean;
  /** Stores the source, too. */
  readonly keep?: boolean;
  /** Milliseconds. */
  readonly every?: number;
  readonly alarmBeyond?: number;
}

interface Reconciled {
  readonly expected: number;
  readonly found: number;
  readonly drift: number;
  readonly corrected: boolean;
  readonly asOf: string;
}

export async function reconcile(context: CommandContext, options: ReconcileOptions, ids: string[]): Promise<void> {
  const { dryRun = false, keep = false, every, alarmBeyond } = options;
  const selection = parseSelection(ids, options);
  const template = parseSource(options);
  if (template === undefined && (keep || every !== undefined || alarmBeyond !== undefined)) {
    throw new CommandError(
      WRONG_USAGE,
      "--keep, --every and --alarm-beyond need a source: add --entries, --from or --from-group",
    );
  }
  if (!keep && (every !== undefined || alarmBeyond !== undefined)) {
    throw new CommandError(WRONG_USAGE, "--every and --alarm-beyond are stored with the source: add --keep");
  }
  if (dryRun && keep) {
    throw new CommandError(
      WRONG_USAGE,
      "--dry-run writes nothing, and --keep stores the source: leave out one of them",
    );
  }
  const isSingle = ids.length === 1;
  // A template that fails for one counter fails for all.
  if (template) assertUsable(template, ids[0] ?? `${selection.group}:name`, isSingle);

  if (dryRun) printStatus(`Comparing in the ${describeTarget(context.target)}. Nothing is written.`);
  else {
    const which = selection.group === undefined ? pluralize(ids.length, "counter") : describeGroup(selection.group);
    await confirm(context, {
      action: `Reconcile ${isSingle ? ids[0] : which} with ${template ? JSON.stringify(template) : "the stored source"}`,
    });
  }
  let drifted = 0;
  const run = await forEachCounter<Reconciled>(context, selection, {
    label: dryRun ? "Comparing" : "Reconciling",
    work: async (ref) => {
      const source = template && sourceForCounter(template, ref.id);
      if (source && keep)
        await setCounterSource(ref, source, { every, ...(alarmBeyond !== undefined && { alarmBeyond }) });
      const { asOf, ...result } = await reconcileCounter(ref, { ...(source && { source }), dryRun });
      if (result.drift !== 0) drifted++;
      return { ...result, asOf: asOf.toDate().toISOString() };
    },
    detail: () => `${drifted} drifted`,
  });
  if (context.json) printJson({ ...context.target, dryRun, after: run.after ?? null, counters: run.outcomes });
  else printReconciled(run.outcomes.filter(succeeded), ids.length > 0, dryRun);
  const lacksSource = run.outcomes.some((one) => !succeeded(one) && one.error.includes("counter/invalid-source"));
  if (!template && lacksSource) {
    printStatus("Name a source with --entries, --from or --from-group; add --keep to store it.");
  }
  throwIfIncomplete(run);
}

/** @throws CommandError if a source is invalid, or gives several counters the same total */
function assertUsable(template: CounterSource, id: string, isSingle: boolean): void {
  let source: CounterSource;
  try {
    source = sourceForCounter(template, id);
  } catch (error) {
    throw new CommandError(WRONG_USAGE, toCommandError(error).message, error);
  }
  if (!isSingle && JSON.stringify(source) === JSON.stringify(template) && !("entries" in source)) {
    throw new CommandError(
      WRONG_USAGE,
      'this source would give all counters the same total; give each one its own with {id} or {name}: --from "posts/{name}/likes"',
    );
  }
}

/** @param listUnchanged  whether counters without drift are listed, too */
function printReconciled(
  counters: readonly ({ id: string } & Reconciled)[],
  listUnchanged: boolean,
  dryRun: boolean,
): void {
  const drifted = counters.filter(({ drift }) => drift !== 0);
  const listed = listUnchanged ? counters : drifted;
  if (listed.length > 0) {
    const rows = listed.map(({ id, found, expected, drift }) => [
      escapeControls(id),
      formatNumber(found),
      formatNumber(expected),
      drift === 0 ? "0" : paint("yellow", formatSigned(drift)),
    ]);
    print(table(rows, ["id", "right", "right", "right"], ["counter", "counted", "source", "drift"]));
  }
  const outcome =
    drifted.length === 0 ? "none has drifted" : `${drifted.length} drifted, ${dryRun ? "not corrected" : "corrected"}`;
  print(`${pluralize(counters.length, "counter")} compared: ${outcome}.`);
}

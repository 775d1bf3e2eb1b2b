/**
 * `reconcile`: holds counters against their source of truth, and corrects those that have drifted.
 *
 * A source named here holds for every counter of the round, with `{id}` and `{key}` standing for the counter's own. One
 * source without them cannot be the truth of several counters, so that is refused before it overwrites their totals.
 */

import { reconcileCounter } from "../../admin/src/reconcile.ts";
import { setSource } from "../../admin/src/source.ts";
import type { Source } from "../../core/src/index.ts";
import { consent } from "./consent.ts";
import { type Done, endRound, goRound, groupInWords, type SelectionOptions, selectionOf } from "./round.ts";
import { paint, print, printJson, shown, table, tell } from "./screen.ts";
import type { Session } from "./session.ts";
import { type SourceOptions, sourceFor, sourceOf } from "./sourceOptions.ts";
import { Stop, stopFor, WRONG_USAGE } from "./stop.ts";
import { nameOf } from "./target.ts";
import { inWords, several, signed } from "./words.ts";

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

export async function reconcile(session: Session, options: ReconcileOptions, ids: string[]): Promise<void> {
  const { dryRun = false, keep = false, every, alarmBeyond } = options;
  const selection = selectionOf(ids, options);
  const template = sourceOf(options);
  if (template === undefined && (keep || every !== undefined || alarmBeyond !== undefined)) {
    throw new Stop(
      WRONG_USAGE,
      "--keep, --every and --alarm-beyond go with a source: --entries, --from or --from-group",
    );
  }
  if (!keep && (every !== undefined || alarmBeyond !== undefined)) {
    throw new Stop(WRONG_USAGE, "--every and --alarm-beyond are stored with the source: add --keep");
  }
  if (dryRun && keep) throw new Stop(WRONG_USAGE, "--dry-run writes nothing, so it cannot --keep");
  const alone = ids.length === 1;
  // The first by way of trial: what is wrong with one is wrong with all.
  if (template) checked(template, ids[0] ?? `${selection.group}:key`, alone);

  if (dryRun) tell(`Comparing in the ${nameOf(session.target)}. Nothing is written.`);
  else {
    const which = selection.group === undefined ? several(ids.length, "counter") : groupInWords(selection.group);
    await consent(session, {
      what: `Reconcile ${alone ? ids[0] : which} with ${template ? JSON.stringify(template) : "the stored source"}`,
    });
  }
  let drifted = 0;
  const round = await goRound<Reconciled>(session, selection, {
    doing: dryRun ? "Comparing" : "Reconciling",
    work: async (ref) => {
      const source = template && sourceFor(template, ref.id);
      if (source && keep) await setSource(ref, source, { every, ...(alarmBeyond !== undefined && { alarmBeyond }) });
      const { asOf, ...result } = await reconcileCounter(ref, { source, dryRun });
      if (result.drift !== 0) drifted++;
      return { ...result, asOf: asOf.toDate().toISOString() };
    },
    detail: () => `${drifted} drifted`,
  });
  if (session.json) printJson({ ...session.target, dryRun, after: round.after ?? null, counters: round.done });
  else show(round.done.filter(isResult), ids.length > 0, dryRun);
  if (!template && round.done.some((one) => !isResult(one))) {
    tell("A source is named with --entries, --from or --from-group; --keep stores it.");
  }
  endRound(round);
}

function checked(template: Source, id: string, alone: boolean): void {
  try {
    const source = sourceFor(template, id);
    if (!alone && JSON.stringify(source) === JSON.stringify(template) && !("entries" in source)) {
      throw new Stop(
        WRONG_USAGE,
        'one source cannot be the truth of several counters; name each one\'s own with {id} or {key}: --from "posts/{key}/likes"',
      );
    }
  } catch (error) {
    throw error instanceof Stop ? error : new Stop(WRONG_USAGE, stopFor(error).message, error);
  }
}

function isResult(one: Done<Reconciled>): one is { id: string } & Reconciled {
  return !("error" in one);
}

function show(done: readonly ({ id: string } & Reconciled)[], all: boolean, dryRun: boolean): void {
  const drifted = done.filter(({ drift }) => drift !== 0);
  const listed = all ? done : drifted;
  if (listed.length > 0) {
    const rows = listed.map(({ id, found, expected, drift }) => [
      shown(id),
      inWords(found),
      inWords(expected),
      drift === 0 ? "0" : paint("yellow", signed(drift)),
    ]);
    print(table(rows, ["left", "right", "right", "right"], ["counter", "counted", "source", "drift"]));
  }
  const outcome =
    drifted.length === 0 ? "none has drifted" : `${drifted.length} drifted, ${dryRun ? "left as it is" : "corrected"}`;
  print(`${several(done.length, "counter")} compared: ${outcome}.`);
}

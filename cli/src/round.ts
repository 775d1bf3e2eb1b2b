/**
 * Goes round several counters, those named or those of a group, and does the same to each.
 *
 * Some are under way at a time, but they are finished in order. So "everything up to this id is done" is always true of
 * the last one finished, and a round that was interrupted goes on with `--after` that id. What was under way is done
 * again then, which is why only work that may be repeated belongs here.
 *
 *     done ──────────────▶│ under way │ not begun
 *     a  b  c  d  e  f  g │ h  i  j   │ k  l  m …
 *                       ▲ --after g
 */

import type { Firestore } from "firebase-admin/firestore";
import type { CounterRef } from "../../admin/src/counter.ts";
import { listCounters } from "../../admin/src/list.ts";
import { CounterError } from "../../core/src/index.ts";
import { startBar } from "./bar.ts";
import { Left, patiently } from "./patience.ts";
import { paint, quoted, shown, tell } from "./screen.ts";
import type { Session } from "./session.ts";
import { FAILED, Stop, stopFor, WRONG_USAGE } from "./stop.ts";
import { several } from "./words.ts";

/** Which counters. */
export interface SelectionOptions {
  readonly group?: string;
  /** Those of the group `""`, whose ids have no colon. */
  readonly ungrouped?: boolean;
  readonly after?: string;
}

export interface Selection {
  readonly ids: readonly string[];
  readonly group?: string | undefined;
  readonly after?: string | undefined;
}

export interface Task<Result> {
  /** `Deleting` */
  readonly doing: string;
  /**
   * What is done to one counter. It can be repeated, and left at any point.
   *
   * @param tellShare  tells how much of this counter is done, 0 to 1
   */
  readonly work: (ref: CounterRef, tellShare: (share: number) => void) => Promise<Result>;
  /** What the bar tells besides. */
  readonly detail?: () => string;
}

/** What became of one counter: a result, or why there is none. */
export type Done<Result> = { readonly id: string } & (Result | { readonly error: string });

export interface Round<Result> {
  readonly done: Done<Result>[];
  /** How many counters there were to begin with. */
  readonly all: number;
  /** The last one finished: where to go on. */
  after: string | undefined;
  /** Why it ended early. */
  stopped?: Stop;
}

/** Counters under way at a time. */
const WIDTH = 8;

/** Counters listed at a time. */
const PAGE = 300;

/** @throws Stop unless either ids, a group or `--ungrouped` is given, and `--after` is one of the ids */
export function selectionOf(ids: readonly string[], options: SelectionOptions): Selection {
  const { ungrouped, after } = options;
  // What a script makes of a variable that is not set.
  if (options.group === "") {
    throw new Stop(WRONG_USAGE, "--group is empty; name a group, or with --ungrouped the counters without one");
  }
  if ([ids.length > 0, options.group !== undefined, ungrouped].filter(Boolean).length !== 1) {
    throw new Stop(
      WRONG_USAGE,
      "name either counters or a group: views:home views:about, or --group views, or --ungrouped",
    );
  }
  const group = ungrouped ? "" : options.group;
  if (group === undefined && after !== undefined && !ids.includes(after)) {
    throw new Stop(WRONG_USAGE, `--after ${shown(after)} is none of the counters named`);
  }
  return { ids: after === undefined ? ids : ids.slice(ids.indexOf(after) + 1), group, after };
}

/** `the group "views"` */
export function groupInWords(group: string): string {
  return group === "" ? "those without a group" : `the group "${group}"`;
}

/** How many counters a selection has. Cost: of a group, 1 read per 1,000. */
export async function sizeOf({ firestore, target }: Session, { ids, group, after }: Selection): Promise<number> {
  if (group === undefined) return ids.length;
  const all = firestore.collection(target.collection).where("group", "==", group).orderBy("__name__");
  return (await (after === undefined ? all : all.startAfter(after)).count().get()).data().count;
}

/** The ids of a selection, in order. Cost: of a group, 1 read each. */
export async function* idsOf({ firestore, target }: Session, selection: Selection): AsyncGenerator<string> {
  if (selection.group === undefined) return yield* selection.ids;
  yield* idsOfGroup(firestore, selection.group, target.collection, selection.after);
}

async function* idsOfGroup(firestore: Firestore, group: string, collection: string, from: string | undefined) {
  for (let after = from; ; ) {
    const page = await listCounters(firestore, group, { after, limit: PAGE, collection });
    for (const { id } of page) yield id;
    if (page.length < PAGE) return;
    after = page.at(-1)?.id;
  }
}

/**
 * Does the task to each counter, with a bar if somebody watches. An error that is the counter's own is noted, and the
 * round goes on; any other, or Ctrl-C, or that nothing moves any more, ends it. Cost: of a group, 1 read per counter, and
 * what the task costs.
 */
export async function goRound<Result>(
  session: Session,
  selection: Selection,
  task: Task<Result>,
): Promise<Round<Result>> {
  // Before any I/O, so that a slip of the pen in the last one does nothing to the first.
  for (const id of selection.ids) session.ref(id);
  const all = await sizeOf(session, selection);
  const round: Round<Result> = { done: [], all, after: selection.after };
  const shares = new Map<string, number>();
  const bar = startBar(task.doing, all, () => ({
    value: round.done.length + [...shares.values()].reduce((sum, one) => sum + one, 0),
    text: [`${round.done.length}/${several(all, "counter")}`, ...(task.detail ? [task.detail()] : [])].join(" · "),
  }));
  try {
    await patiently((moved) => walk(session, selection, task, round, shares, moved));
  } catch (error) {
    round.stopped = stopFor(error);
  } finally {
    bar?.stop();
  }
  return round;
}

async function walk<Result>(
  session: Session,
  selection: Selection,
  { work }: Task<Result>,
  round: Round<Result>,
  shares: Map<string, number>,
  moved: () => void,
): Promise<void> {
  const tellShare = (id: string, share: number) => {
    shares.set(id, share);
    moved();
  };
  const underWay: { id: string; done: Promise<Done<Result>> }[] = [];
  const finish = async () => {
    const first = underWay.shift();
    if (!first) return;
    round.done.push(await first.done);
    round.after = first.id;
    shares.delete(first.id);
  };
  for await (const id of idsOf(session, selection)) {
    const done = work(session.ref(id), (share) => tellShare(id, share)).then(
      (result): Done<Result> => ({ id, ...result }),
      (error): Done<Result> => {
        if (error instanceof CounterError) return { id, error: error.message };
        throw error;
      },
    );
    done.then(
      () => tellShare(id, 1),
      () => undefined,
    );
    underWay.push({ id, done });
    if (underWay.length === WIDTH) await finish();
  }
  while (underWay.length > 0) await finish();
}

/** Ends a command after its round: with what went wrong, and how to go on. */
export function endRound<Result>(round: Round<Result>): void {
  const failed = round.done.filter((one): one is Done<Result> & { error: string } => "error" in one);
  for (const { id, error } of failed) tell(`${paint("red", "failed", process.stderr)} ${shown(id)}: ${shown(error)}`);
  if (round.stopped) {
    const { exitCode, message, cause } = round.stopped;
    const so = `${message} after ${round.done.length} of ${several(round.all, "counter")}`;
    const unknown = round.stopped instanceof Left ? " What was under way may be done or not." : "";
    throw new Stop(
      exitCode,
      `${so}.${unknown} Go on with:\n  ${resumption(process.argv.slice(2), round.after)}`,
      cause,
    );
  }
  if (failed.length > 0) throw new Stop(FAILED, `${failed.length} of ${several(round.all, "counter")} failed`);
}

/** The same command, from where it was left. */
export function resumption(typed: readonly string[], after: string | undefined): string {
  const kept = typed.filter(
    (word, i) => word !== "--after" && typed[i - 1] !== "--after" && !word.startsWith("--after="),
  );
  const operands = kept.includes("--") ? kept.indexOf("--") : kept.length;
  const words = after === undefined ? typed : [...kept.slice(0, operands), "--after", after, ...kept.slice(operands)];
  return ["npx", "firestore-tally", ...words].map(quoted).join(" ");
}

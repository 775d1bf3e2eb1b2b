/** Which counters a command works on: those that are named, or those of a group. */
import type { Firestore } from "firebase-admin/firestore";
import { listCounters } from "../../admin/src/index.ts";
import { validGroup } from "../../core/src/index.ts";
import type { CommandContext } from "./commandContext.ts";
import { CommandError, WRONG_USAGE } from "./commandError.ts";
import { escapeControls } from "./escape.ts";

export interface SelectionOptions {
  readonly group?: string;
  /** The counters of the group `""`, whose ids have no colon. */
  readonly ungrouped?: boolean;
  readonly after?: string;
}

export interface Selection {
  readonly ids: readonly string[];
  readonly group?: string | undefined;
  readonly after?: string | undefined;
}

/** Counters listed at a time. */
const PAGE_SIZE = 300;

/**
 * @throws CounterError `counter/invalid-option` if the group has a colon
 * @throws CommandError unless either ids, a group or `--ungrouped` is given, and `--after` is one of the ids
 */
export function parseSelection(ids: readonly string[], options: SelectionOptions): Selection {
  const { ungrouped, after } = options;
  // An unset variable in a script gives an empty group.
  if (options.group === "") {
    throw new CommandError(
      WRONG_USAGE,
      "--group is empty; name a group, or pass --ungrouped for the counters without one",
    );
  }
  if ([ids.length > 0, options.group !== undefined, ungrouped].filter(Boolean).length !== 1) {
    throw new CommandError(
      WRONG_USAGE,
      "name either counters or a group: views:home views:about, or --group views, or --ungrouped",
    );
  }
  const group = ungrouped ? "" : options.group && validGroup(options.group);
  return { ids: idsAfter(ids, after), group, after };
}

/** The named counters that are left. @throws CommandError if `--after` is none of them */
export function idsAfter(ids: readonly string[], after: string | undefined): readonly string[] {
  if (ids.length === 0 || after === undefined) return ids;
  if (ids.includes(after)) return ids.slice(ids.indexOf(after) + 1);
  throw new CommandError(
    WRONG_USAGE,
    `--after ${escapeControls(after)} is not among the named counters; pass one of them`,
  );
}

/** `the group "views"` */
export function describeGroup(group: string): string {
  return group === "" ? "those without a group" : `the group "${group}"`;
}

/** What to type to confirm that counters are deleted; nothing for counters that were named. */
export function confirmationWord({ group }: Selection): string | undefined {
  return group === "" ? "ungrouped" : group;
}

/** The number of selected counters. Cost: 1 read per 1,000 counters of a group. */
export async function countSelected(
  { firestore, target }: CommandContext,
  { ids, group, after }: Selection,
): Promise<number> {
  if (group === undefined) return ids.length;
  const all = firestore.collection(target.collection).where("group", "==", group).orderBy("__name__");
  return (await (after === undefined ? all : all.startAfter(after)).count().get()).data().count;
}

/** The ids of the selected counters, in order. Cost: 1 read per counter of a group. */
export async function* selectedIds(
  { firestore, target }: CommandContext,
  selection: Selection,
): AsyncGenerator<string> {
  if (selection.group === undefined) return yield* selection.ids;
  yield* groupIds(firestore, selection.group, target.collection, selection.after);
}

async function* groupIds(firestore: Firestore, group: string, collection: string, from: string | undefined) {
  for (let after = from; ; ) {
    const page = await listCounters(firestore, group, { after, limit: PAGE_SIZE, collection });
    for (const { id } of page) yield id;
    if (page.length < PAGE_SIZE) return;
    after = page.at(-1)?.id;
  }
}

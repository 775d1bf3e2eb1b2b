/** Does the same work on each selected counter (forEachItem.ts). */
import type { CounterRef } from "../../admin/src/index.ts";
import type { CommandContext } from "./commandContext.ts";
import { forEachItem, type Run, type Task } from "./forEachItem.ts";
import { countSelected, type Selection, selectedIds } from "./selection.ts";

/** Work on counters. */
export interface CounterTask<Result> extends Omit<Task<Result>, "work"> {
  readonly work: (ref: CounterRef, onProgress: (share: number) => void) => Promise<Result>;
}

/** Cost: 1 read per counter of a group, and the cost of the work. */
export async function forEachCounter<Result>(
  context: CommandContext,
  selection: Selection,
  task: CounterTask<Result>,
): Promise<Run<Result>> {
  // Rejects an invalid id before any I/O on the others.
  for (const id of selection.ids) context.ref(id);
  const count = await countSelected(context, selection);
  return await forEachItem(
    { noun: "counter", ids: () => selectedIds(context, selection), count, after: selection.after },
    { ...task, work: (id, onProgress) => task.work(context.ref(id), onProgress) },
  );
}

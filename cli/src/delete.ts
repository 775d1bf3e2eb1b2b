/**
 * `delete`: deletes counters and everything below them but receipts, which expire. Cost: 1 read and 1 delete per document; 24 reads per
 * counter, and 1 more if it is named.
 */
import { deleteCounter } from "../../admin/src/index.ts";
import { extentOf } from "../../admin/src/internal.ts";
import type { CommandContext } from "./commandContext.ts";
import { confirm } from "./confirm.ts";
import { counterExists } from "./counterExists.ts";
import { forEachCounter } from "./forEachCounter.ts";
import { ItemError, succeeded, throwIfIncomplete } from "./forEachItem.ts";
import { pluralize } from "./format.ts";
import { paint, print, printJson, printStatus } from "./output.ts";
import {
  confirmationWord,
  countSelected,
  describeGroup,
  parseSelection,
  type Selection,
  type SelectionOptions,
  selectedIds,
} from "./selection.ts";

interface Deleted {
  /** The counter document included. */
  readonly documents: number;
}

export async function deleteCounters(context: CommandContext, options: SelectionOptions, ids: string[]): Promise<void> {
  const selection = parseSelection(ids, options);
  for (const id of ids) context.ref(id);
  await confirm(context, {
    action: `Delete ${await describe(context, selection)} and everything below ${ids.length === 1 ? "it" : "them"}`,
    size: async () => pluralize(await countDocuments(context, selection), "document"),
    word: confirmationWord(selection),
  });
  // A command that is resumed may have deleted some of them before.
  const isNamed = selection.group === undefined && selection.after === undefined;
  let documents = 0;
  const run = await forEachCounter<Deleted>(context, selection, {
    label: "Deleting",
    work: async (ref, onProgress) => {
      if (isNamed && !(await counterExists(ref))) throw new ItemError("does not exist");
      let deleted = 0;
      await deleteCounter(ref, {
        onProgress: (done, all) => {
          documents += done - deleted;
          deleted = done;
          onProgress(done / all);
        },
      });
      return { documents: deleted };
    },
    detail: () => pluralize(documents, "document"),
  });
  if (context.json) printJson({ ...context.target, after: run.after ?? null, counters: run.outcomes });
  else
    print(
      `${pluralize(run.outcomes.filter(succeeded).length, "counter")} deleted, ${pluralize(documents, "document")}.`,
    );
  throwIfIncomplete(run);
}

async function describe(context: CommandContext, selection: Selection): Promise<string> {
  const { ids, group, after } = selection;
  if (group === undefined) return ids.length <= 3 ? ids.join(", ") : pluralize(ids.length, "counter");
  const rest = after === undefined ? "" : ` after ${after}`;
  return `${pluralize(await countSelected(context, selection), "counter")} of ${describeGroup(group)}${rest}`;
}

/** Cost: 1 read per 1,000 documents, at least 1 per subcollection of a counter; 1 read per counter of a group. */
async function countDocuments(context: CommandContext, selection: Selection): Promise<number> {
  let documents = 0;
  let counters = 0;
  for await (const id of selectedIds(context, selection)) {
    documents += (await extentOf(context.ref(id))).documents;
    counters++;
    if (counters % 100 === 0) {
      printStatus(paint("dim", `counting: ${pluralize(documents, "document")} so far`, process.stderr));
    }
  }
  return documents;
}

/** `publish`: has the functions publish counters again, and write their mirrors. Cost: 1 read and 2 writes per counter, and the publish. */
import { publishCounter } from "../../admin/src/index.ts";
import type { CommandContext } from "./commandContext.ts";
import { counterExists } from "./counterExists.ts";
import { forEachCounter } from "./forEachCounter.ts";
import { ItemError, succeeded, throwIfIncomplete } from "./forEachItem.ts";
import { pluralize } from "./format.ts";
import { print, printJson } from "./output.ts";
import { parseSelection, type SelectionOptions } from "./selection.ts";

export async function publish(context: CommandContext, options: SelectionOptions, ids: string[]): Promise<void> {
  const run = await forEachCounter<object>(context, parseSelection(ids, options), {
    label: "Publishing",
    work: async (ref) => {
      if (!(await counterExists(ref))) throw new ItemError("does not exist");
      await publishCounter(ref);
      return {};
    },
  });
  if (context.json) printJson({ ...context.target, after: run.after ?? null, counters: run.outcomes });
  else
    print(`${pluralize(run.outcomes.filter(succeeded).length, "counter")} will be published within some ten seconds.`);
  throwIfIncomplete(run);
}

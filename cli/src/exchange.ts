/**
 * `exchange`: brings counters to the other regions now, whether they have changed or not. For a region that was added, or
 * restored from a backup: the functions bring counters that change, and nothing else.
 *
 * The procedure is the functions' own, so it may run beside them.
 */

import { parseRegions } from "../../functions/src/regions/config.ts";
import { connectRegions } from "../../functions/src/regions/connect.ts";
import { exchangeCounter } from "../../functions/src/regions/exchange.ts";
import { sleep } from "../../functions/src/time.ts";
import type { CommandContext } from "./commandContext.ts";
import { CommandError, WRONG_USAGE } from "./commandError.ts";
import { describeTarget } from "./databaseTarget.ts";
import { forEachCounter } from "./forEachCounter.ts";
import { ItemError, succeeded, throwIfIncomplete } from "./forEachItem.ts";
import { pluralize } from "./format.ts";
import { print, printJson, printStatus } from "./output.ts";
import { parseSelection, type SelectionOptions } from "./selection.ts";

export interface ExchangeOptions extends SelectionOptions {
  /** As the parameter `REGIONS`. */
  readonly regions: string;
}

export async function exchange(context: CommandContext, options: ExchangeOptions, ids: string[]): Promise<void> {
  const { target, app, firestore } = context;
  const selection = parseSelection(ids, options);
  const regions = parseRegions(options.regions, target.database, target.project);
  if (!regions)
    throw new CommandError(WRONG_USAGE, '--regions is empty; pass all, such as "us=(default), eu=tally-eu"');
  const counters = firestore.collection(target.collection);
  const others = regions.others.map(({ name }) => name).join(" and ");
  printStatus(`Bringing counters of ${regions.own} to ${others}, from the ${describeTarget(target)}.`);
  // A region that does not exist, or that this account may not read, ends the command before its work.
  for (const { counters } of connectRegions(app, regions, target.collection).values()) await counters.limit(1).get();
  const run = await forEachCounter(context, selection, {
    label: "Exchanging",
    work: async ({ id }) => {
      // Each counter tries the regions, whatever became of the others. If it fails in a region that answers, the others may not.
      const otherRegions = connectRegions(app, regions, target.collection);
      const failed = await exchangeCounter({ counters, otherRegions, now: Date.now, sleep }, regions, id);
      const unreachable = failed.filter((name) => otherRegions.get(name)?.isFailing);
      if (unreachable.length > 0) throw new Error(`no answer by ${unreachable.join(" and ")} for ${id}`);
      if (failed.length > 0) throw new ItemError(`could not be brought to ${failed.join(" and ")}`);
      return {};
    },
    detail: () => "",
  });
  if (context.json) printJson({ ...target, after: run.after ?? null, counters: run.outcomes });
  else print(`${pluralize(run.outcomes.filter(succeeded).length, "counter")} brought to ${others}.`);
  throwIfIncomplete(run);
}

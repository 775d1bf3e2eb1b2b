/**
 * `exchange`: pushes counters to the other regions now, whether they have changed or not. For a region that was added, or
 * restored from a backup: the functions push counters that change, and nothing else.
 *
 * The procedure is the functions' own, so it may run beside them.
 */
import type { CollectionReference, DocumentSnapshot } from "firebase-admin/firestore";
import { sleep } from "../../functions/src/counter/time.ts";
import { connectOtherRegions, type OtherRegion } from "../../functions/src/features/regions/connect.ts";
import { exchangeCounter } from "../../functions/src/features/regions/exchange.ts";
import { parseRegions, type Regions } from "../../functions/src/features/regions/parseRegions.ts";
import type { CommandContext } from "./commandContext.ts";
import { CommandError, WRONG_USAGE } from "./commandError.ts";
import { describeTarget } from "./databaseTarget.ts";
import { escapeControls } from "./escape.ts";
import { forEachCounter } from "./forEachCounter.ts";
import { ItemError, succeeded, throwIfIncomplete } from "./forEachItem.ts";
import { pluralize } from "./format.ts";
import { print, printJson, printStatus } from "./output.ts";
import { contradictedName } from "./regionNames.ts";
import { parseSelection, type SelectionOptions } from "./selection.ts";

export interface ExchangeOptions extends SelectionOptions {
  /** As the parameter `REGIONS`. */
  readonly regions: string;
}

/** Counters of each region whose names of regions are compared. */
const SAMPLE = 20;

export async function exchange(context: CommandContext, options: ExchangeOptions, ids: string[]): Promise<void> {
  const { target, app, firestore } = context;
  const selection = parseSelection(ids, options);
  const regions = parseRegions(options.regions, target.database, target.project);
  if (!regions)
    throw new CommandError(WRONG_USAGE, '--regions is empty; pass all, such as "us=(default), eu=tally-eu"');
  const counters = firestore.collection(target.collection);
  const others = regions.others.map(({ name }) => name).join(" and ");
  printStatus(`Bringing counters of ${regions.own} to ${others}, from the ${describeTarget(target)}.`);
  await assertNames(counters, regions, connectOtherRegions(app, regions, target.collection));
  const run = await forEachCounter(context, selection, {
    label: "Exchanging",
    work: async ({ id }) => {
      // Each counter tries the regions, whatever became of the others. If it fails in a region that answers, the others may not.
      const otherRegions = connectOtherRegions(app, regions, target.collection);
      const failed = await exchangeCounter({ counters, otherRegions, now: Date.now, sleep }, regions, id);
      const unreachable = failed.filter((name) => otherRegions.get(name)?.isFailing);
      if (unreachable.length > 0) throw new Error(`no answer by ${unreachable.join(" and ")} for ${id}`);
      if (failed.length > 0) throw new ItemError(`could not be pushed to ${failed.join(" and ")}`);
      return {};
    },
    detail: () => "",
  });
  if (context.json) printJson({ ...target, after: run.after ?? null, counters: run.outcomes });
  else print(`${pluralize(run.outcomes.filter(succeeded).length, "counter")} pushed to ${others}.`);
  throwIfIncomplete(run);
}

/**
 * A region that does not exist, or that this account may not read, ends the command before its work, and so does one under another
 * name. Cost: 2 reads for each region and counter of the sample.
 *
 * @throws CommandError
 */
async function assertNames(
  counters: CollectionReference,
  { own }: Regions,
  others: ReadonlyMap<string, OtherRegion>,
): Promise<void> {
  for (const [name, { counters: there }] of others) {
    const { docs } = await there.orderBy("globalTotal", "desc").limit(SAMPLE).get();
    if (docs.length === 0) continue;
    const ours = await counters.firestore.getAll(...docs.map(({ id }) => counters.doc(id)));
    const names = ours.flatMap((counter, n) => {
      const other = docs[n] as DocumentSnapshot;
      return [
        [own, contradictedName(own, counter, other)] as const,
        [name, contradictedName(name, other, counter)] as const,
      ];
    });
    const [listed, known] = names.find(([, found]) => found !== undefined) ?? [];
    if (known === undefined) continue;
    throw new CommandError(
      WRONG_USAGE,
      `--regions names a region ${listed} that the counters know as ${escapeControls(known)}; a region keeps its name, so correct the list`,
    );
  }
}

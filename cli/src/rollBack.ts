/** `migrate --rollback`: gives the fields what their counters have, for Google's counter extension to go on from. */
import { giveBack } from "../../admin/src/internal.ts";
import { groupOf, type Mirror, mirrorOf } from "../../core/src/index.ts";
import type { CommandContext } from "./commandContext.ts";
import { confirm } from "./confirm.ts";
import { escapeControls } from "./escape.ts";
import { forEachItem, succeeded, throwIfIncomplete } from "./forEachItem.ts";
import { formatNumber, pluralize } from "./format.ts";
import { print, printJson } from "./output.ts";
import { countSelected, type Selection, selectedIds } from "./selection.ts";
import { bulletList } from "./table.ts";

/** What was added to a field; `null` if its document is missing. */
interface GivenBack {
  readonly document: string;
  readonly amount: number | null;
}

/** Cost: 1 read per counter, and 4 reads and 2 writes for each whose field does not show its total. */
export async function rollBack(
  context: CommandContext,
  mirrors: readonly Mirror[],
  after: string | undefined,
): Promise<void> {
  const { firestore, target } = context;
  const selections = mirrors.map(({ counters }): Selection => {
    return counters.includes(":") ? { ids: [], group: groupOf(counters) } : { ids: [counters] };
  });
  // A counter of an earlier group is done.
  const resumed = Math.max(
    0,
    selections.findIndex(({ group }) => after !== undefined && group === groupOf(after)),
  );
  const rest = selections.slice(resumed).map((one, index) => (index === 0 && after ? { ...one, after } : one));
  const counts = await Promise.all(rest.map((selection) => countSelected(context, selection)));
  const count = counts.reduce((sum, one) => sum + one, 0);
  await confirm(context, {
    action: "Give the fields the totals of their counters",
    size: async () => pluralize(count, "counter"),
  });
  const run = await forEachItem<GivenBack>(
    { noun: "counter", ids: idsOf(context, rest), count, after },
    {
      label: "Giving back",
      work: async (counterId) => {
        const shown = mirrorOf(counterId, mirrors);
        if (!shown) return { document: "", amount: null };
        const { document, field } = shown;
        const amount = await giveBack(firestore, target.collection, document, { counterId, field });
        return { document, amount: amount ?? null };
      },
    },
  );
  const done = run.outcomes.filter(succeeded);
  const missing = done.filter(({ amount }) => amount === null);
  const total = done.reduce((sum, { amount }) => sum + (amount ?? 0), 0);
  if (context.json) printJson({ ...target, after: run.after ?? null, total, counters: run.outcomes });
  else {
    print(`${formatNumber(total)} given back to ${pluralize(done.length - missing.length, "field")}.`);
    const without = missing.map(
      ({ id, document }) => `${escapeControls(id)}: there is no document ${escapeControls(document)}`,
    );
    if (without.length > 0) print(`\n${bulletList("left alone", without)}`);
    print("Clients of Tally may go on counting: repeat the command for what they add.");
  }
  throwIfIncomplete(run);
}

async function* idsOf(context: CommandContext, selections: readonly Selection[]): AsyncGenerator<string> {
  for (const selection of selections) yield* selectedIds(context, selection);
}

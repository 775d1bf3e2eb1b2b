/** `migrate --rollback`: gives the fields what their counters have, for Google's counter to go on from. */

import { type Mirror, mirrorSources } from "../../core/src/index.ts";
import { rollBackField } from "../../firestore/src/index.ts";
import type { CommandContext } from "./commandContext.ts";
import { confirm } from "./confirm.ts";
import { forEachItem, succeeded, throwIfIncomplete } from "./forEachItem.ts";
import { formatNumber, formatWhole, pluralize } from "./format.ts";
import { mappedDocuments, survey } from "./legacyDocuments.ts";
import { print, printJson } from "./output.ts";

interface GivenBack {
  /** What was added to the fields, by counter. */
  readonly counters: Readonly<Record<string, number>>;
}

/** Cost: 1 read per document, and for each field 4 reads and 2 writes, or 5 reads if it shows the total of its counter. */
export async function rollBack(
  context: CommandContext,
  mirrors: readonly Mirror[],
  after: string | undefined,
): Promise<void> {
  const { firestore, target } = context;
  const { maps } = await survey(firestore, mirrors);
  const count = maps.reduce((sum, { documents }) => sum + documents, 0);
  const fields = maps.map(({ field }) => field).join(" and ");
  await confirm(context, {
    action: `Give ${fields} the totals of their counters`,
    size: async () => pluralize(count, "document"),
  });
  const run = await forEachItem<GivenBack>(
    { noun: "document", ids: (madeProgress) => pathsOf(context, mirrors, after, madeProgress), count, after },
    {
      label: "Giving back",
      work: async (document) => {
        const counters: Record<string, number> = {};
        for (const field of mirrorSources(document, mirrors)) {
          counters[field.counterId] = await rollBackField(firestore, target.collection, document, field);
        }
        return { counters };
      },
    },
  );
  const done = run.outcomes.filter(succeeded);
  const total = done.flatMap(({ counters }) => Object.values(counters)).reduce((sum, amount) => sum + amount, 0);
  if (context.json) printJson({ ...target, after: run.after ?? null, total, documents: run.outcomes });
  else {
    const changed = done.filter(({ counters }) => Object.values(counters).some(Boolean)).length;
    print(`${formatNumber(total)} given back to ${formatWhole(changed)} of ${pluralize(done.length, "document")}.`);
    print("Clients of Tally may go on counting: repeat the command for what they add.");
  }
  throwIfIncomplete(run);
}

async function* pathsOf(
  { firestore }: CommandContext,
  mirrors: readonly Mirror[],
  after: string | undefined,
  madeProgress: () => void,
) {
  for await (const { ref } of mappedDocuments(firestore, mirrors, after, madeProgress)) yield ref.path;
}

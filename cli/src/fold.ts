/**
 * `fold`: moves surplus shards into `base` now, instead of at the functions' next fold.
 *
 * The procedure is the functions' own: it folds surplus shards that have been quiet for long enough, each on the
 * precondition that it has not changed since it was read. So it may run beside the functions.
 */
import type { CounterRef } from "../../admin/src/index.ts";
import { counterDoc } from "../../admin/src/internal.ts";
import { BASE_SHARD, isCount, parseNumShards, SHARDS } from "../../core/src/index.ts";
import { parseCounter } from "../../functions/src/counter/counterDocument.ts";
import { fold as foldShards } from "../../functions/src/counter/fold.ts";
import type { CommandContext } from "./commandContext.ts";
import { describeTarget } from "./databaseTarget.ts";
import { escapeControls } from "./escape.ts";
import { forEachCounter } from "./forEachCounter.ts";
import { ItemError, succeeded, throwIfIncomplete } from "./forEachItem.ts";
import { pluralize } from "./format.ts";
import { print, printJson, printStatus } from "./output.ts";
import { parseSelection, type SelectionOptions } from "./selection.ts";
import { table } from "./table.ts";

export interface FoldOptions extends SelectionOptions {
  /** Seconds. */
  readonly quietFor: number;
}

interface Folded {
  /** Documents in `shards` before. */
  readonly shards: number;
  readonly folded: number;
  /** Surplus shards that were written too recently. */
  readonly busy: number;
}

export async function fold(context: CommandContext, options: FoldOptions, ids: string[]): Promise<void> {
  const selection = parseSelection(ids, options);
  const quietMillis = options.quietFor * 1_000;
  printStatus(`Folding in the ${describeTarget(context.target)}.`);
  let total = 0;
  const run = await forEachCounter<Folded>(context, selection, {
    label: "Folding",
    work: async (ref) => {
      const result = await foldCounter(ref, quietMillis);
      total += result.folded;
      return result;
    },
    detail: () => `${pluralize(total, "shard")} folded`,
  });
  if (context.json) printJson({ ...context.target, after: run.after ?? null, counters: run.outcomes });
  else printFolded(run.outcomes.filter(succeeded), ids.length > 0);
  throwIfIncomplete(run);
}

/** Cost: 2 reads, and the cost of folding. */
async function foldCounter(ref: CounterRef, quietMillis: number): Promise<Folded> {
  const document = await counterDoc(ref).get();
  const { published } = parseCounter(document, []);
  const bounded = document.get("bounded") === true;
  const base = await counterDoc(ref).collection(SHARDS).doc(BASE_SHARD).get();
  // NaN and infinities stay what they are, whatever is added to them.
  if (base.exists && !isCount(base.get("count")))
    throw new ItemError("the count of shards/base is no number: correct it first");
  // Without a published shard count, any shard may be in use.
  const inUse = published?.shardCount ?? Number.POSITIVE_INFINITY;
  // Old clients of an adopted counter need these shards.
  const fromIndex = Math.max(inUse, parseNumShards(document.get("num_shards")) ?? 0);
  const { documents, candidates, folded } = await foldShards(
    counterDoc(ref).collection(SHARDS),
    fromIndex,
    // By the server's clock, as the times of the shards are.
    document.readTime.toMillis() - quietMillis,
    bounded,
  );
  return { shards: documents, folded, busy: candidates - folded };
}

/** @param listUnchanged  whether counters without surplus shards are listed, too */
function printFolded(counters: readonly ({ id: string } & Folded)[], listUnchanged: boolean): void {
  const listed = listUnchanged ? counters : counters.filter(({ folded, busy }) => folded + busy > 0);
  if (listed.length > 0) {
    const rows = listed.map(({ id, shards, folded, busy }) => [escapeControls(id), shards, folded, busy]);
    print(table(rows, ["id", "right", "right", "right"], ["counter", "shards", "folded", "still busy"]));
  }
  const folded = counters.reduce((sum, one) => sum + one.folded, 0);
  print(`${pluralize(folded, "shard")} of ${pluralize(counters.length, "counter")} folded into base.`);
}

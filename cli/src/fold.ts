/**
 * `fold`: moves surplus shards into `base` now, where the functions would in their own time.
 *
 * The procedure is the functions' own: surplus shards that have been quiet for long enough, each on the condition that it
 * still is as it was measured. So it may run beside them.
 */

import { type CounterRef, counterDoc } from "../../admin/src/counter.ts";
import { SHARDS } from "../../core/src/index.ts";
import { readCounter } from "../../functions/src/counterDocument.ts";
import { fold as foldShards } from "../../functions/src/fold.ts";
import { endRound, goRound, type SelectionOptions, selectionOf } from "./round.ts";
import { print, printJson, shown, table, tell } from "./screen.ts";
import type { Session } from "./session.ts";
import { nameOf } from "./target.ts";
import { several } from "./words.ts";

export interface FoldOptions extends SelectionOptions {
  /** Seconds. */
  readonly quietFor: number;
}

interface Folded {
  /** Documents in `shards` before. */
  readonly shards: number;
  readonly folded: number;
  /** Surplus shards that were written too lately to be folded. */
  readonly busy: number;
}

export async function fold(session: Session, options: FoldOptions, ids: string[]): Promise<void> {
  const selection = selectionOf(ids, options);
  const quiet = options.quietFor * 1_000;
  tell(`Folding in the ${nameOf(session.target)}.`);
  let total = 0;
  const round = await goRound<Folded>(session, selection, {
    doing: "Folding",
    work: async (ref) => {
      const result = await foldOne(ref, quiet);
      total += result.folded;
      return result;
    },
    detail: () => `${several(total, "shard")} folded`,
  });
  if (session.json) printJson({ ...session.target, after: round.after ?? null, counters: round.done });
  else
    report(
      round.done.filter((one): one is { id: string } & Folded => "folded" in one),
      ids.length > 0,
    );
  endRound(round);
}

/** Cost: 1 read, and what folding costs. */
async function foldOne(ref: CounterRef, quiet: number): Promise<Folded> {
  const { published } = await readCounter(counterDoc(ref));
  // Without a published total it is not known over how many shards its writers spread.
  const fromIndex = published?.shardCount ?? Number.POSITIVE_INFINITY;
  const { documents, surplus, folded } = await foldShards(
    counterDoc(ref).collection(SHARDS),
    fromIndex,
    Date.now() - quiet,
  );
  return { shards: documents, folded, busy: surplus - folded };
}

function report(done: readonly ({ id: string } & Folded)[], all: boolean): void {
  const listed = all ? done : done.filter(({ folded, busy }) => folded + busy > 0);
  const sum = (of: (one: Folded) => number) => done.reduce((total, one) => total + of(one), 0);
  if (listed.length > 0) {
    const rows = listed.map(({ id, shards, folded, busy }) => [shown(id), shards, folded, busy]);
    print(table(rows, ["left", "right", "right", "right"], ["counter", "shards", "folded", "still busy"]));
  }
  print(
    `${several(
      sum(({ folded }) => folded),
      "shard",
    )} of ${several(done.length, "counter")} folded into base.`,
  );
}

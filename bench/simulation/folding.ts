/**
 * A fold of the model: quiet shards go into `base`, page by page, as in `functions/src/fold.ts`. Nothing is written between
 * listing a page and folding it, so no batch fails.
 */
import { foldableShards, type Millis, shardIndex } from "../../functions/src/decisions.ts";
import type { Counter } from "./counter.ts";

/** Documents per page and batch. */
const PAGE = 200;

/** @returns how many times `base` was written, and whether that created it */
export function foldInto(counter: Counter, fromIndex: number, quietSince: Millis, now: Millis) {
  const { base, bill } = counter;
  const isCreation = base.writes === undefined;
  const listed = counter.list();
  let batches = 0;
  for (let start = 0; start < listed.length; start += PAGE) {
    const quiet = foldableShards(listed.slice(start, start + PAGE), fromIndex, quietSince);
    if (quiet.length === 0) continue;
    for (const { id, writes } of quiet) {
      base.writes = (base.writes ?? 0) + writes;
      counter.shard(shardIndex(id) as number).writes = undefined;
    }
    base.updatedAt = now;
    counter.documents -= quiet.length;
    bill["folding: deletes"] += quiet.length;
    batches++;
  }
  if (isCreation && batches > 0) counter.documents++;
  bill.measuring += Math.max(listed.length, 1);
  bill["folding: base"] += batches;
  return { batches, isCreation };
}

/**
 * A fold of the model: shards go into `base`, in batches. As in `functions/src/fold.ts`, a batch in which a shard was written
 * since it was measured fails whole, and is left for the next time.
 */
import type { Millis } from "../../functions/src/config.ts";
import { toMillis } from "../../functions/src/counter.ts";
import { type MeasuredShard, shardIndex } from "../../functions/src/measure.ts";
import type { Counter } from "./counter.ts";

/** Shards per batch. */
const BATCH = 200;

/** @returns how many shards were deleted, in how many batches */
export function foldInto(counter: Counter, some: readonly MeasuredShard[], now: Millis) {
  let deleted = 0;
  let batches = 0;
  for (let start = 0; start < some.length; start += BATCH) {
    const batch = some.slice(start, start + BATCH).map(({ id, updatedAt }) => {
      return { shard: counter.shard(shardIndex(id) as number), seen: toMillis(updatedAt) };
    });
    if (batch.some(({ shard, seen }) => shard.writes === undefined || shard.updatedAt !== seen)) continue;
    for (const { shard } of batch) {
      counter.base.writes = (counter.base.writes ?? 0) + (shard.writes as number);
      shard.writes = undefined;
    }
    counter.base.updatedAt = now;
    deleted += batch.length;
    batches++;
  }
  counter.bill["folding: deletes"] += deleted;
  counter.bill["folding: base"] += batches;
  return { deleted, batches };
}

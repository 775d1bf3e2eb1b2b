/**
 * Folds surplus shards into `shards/base`, so that a counter that was once hot is cheap to read again.
 *
 * One atomic batch deletes the shards and adds to `base` what they held. Each delete carries the precondition that its
 * shard is still as it was measured: a straggler's write in between makes the whole batch fail, and nothing was folded.
 * So a fold needs no read of its own, takes no lock that a writer could wait on, and repeating it is harmless.
 */
import { type CollectionReference, FieldValue, type Firestore } from "firebase-admin/firestore";
import { BASE_SHARD, isPreconditionFailure } from "../../core/src/index.ts";
import type { Config, Millis } from "./config.ts";
import { type Published, toMillis } from "./counter.ts";
import { isSparse } from "./interval.ts";
import { type MeasuredShard, type Measurement, shardIndex } from "./measure.ts";

/** Deletes per batch: a straggler fails one batch, not the fold. */
const BATCH = 200;

/** Whether a shard lies beyond the shard count: written before a shrink, by a stale writer or one that spread wider. */
export function isSurplus({ id }: MeasuredShard, shardCount: number): boolean {
  const index = shardIndex(id);
  return index !== undefined && index >= shardCount;
}

/** The surplus shards that have been quiet for so long. */
export function quietSurplus({ asOf, shards }: Measurement, shardCount: number, quiet: Millis): MeasuredShard[] {
  const quietSince = toMillis(asOf) - quiet;
  return shards.filter((shard) => isSurplus(shard, shardCount) && toMillis(shard.updatedAt) <= quietSince);
}

/**
 * The shards that need not stay: once they have been quiet for the cool-down, the surplus ones, and if hardly anybody
 * writes to the counter, and it has shrunk, all that are silent. As long as they are there the counter is polled, and
 * whoever writes to one that is gone makes it anew, which wakes the counter.
 *
 * The cool-down, because with a shard go its marks: a client that lost its connection may come back and look for its own.
 */
export function foldable(
  measurement: Measurement,
  { shardCount, rate }: Pick<Published, "shardCount" | "rate">,
  config: Config,
): MeasuredShard[] {
  const isIdle = shardCount === config.minShards && isSparse(rate, config);
  return quietSurplus(measurement, isIdle ? 1 : shardCount, config.shrinkCooldown);
}

/**
 * Moves shards into `base`. Cost: 1 delete per shard, and 1 write per 200 of them.
 *
 * @returns how many shards were folded; those of a batch that met a straggler are left for the next time
 */
export async function fold(
  firestore: Firestore,
  shards: CollectionReference,
  quiet: readonly MeasuredShard[],
): Promise<number> {
  let folded = 0;
  for (let start = 0; start < quiet.length; start += BATCH) {
    const some = quiet.slice(start, start + BATCH);
    const batch = firestore.batch();
    for (const { id, updatedAt } of some) batch.delete(shards.doc(id), { lastUpdateTime: updatedAt });
    const sum = (field: "count" | "writes") => FieldValue.increment(some.reduce((all, shard) => all + shard[field], 0));
    batch.set(
      shards.doc(BASE_SHARD),
      { count: sum("count"), writes: sum("writes"), at: FieldValue.serverTimestamp() },
      { merge: true },
    );
    try {
      await batch.commit();
      folded += some.length;
    } catch (error) {
      if (!isPreconditionFailure(error)) throw error;
    }
  }
  return folded;
}

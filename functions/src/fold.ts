/**
 * Folds surplus shards into `shards/base`, so that a counter that was once hot is cheap to read again.
 *
 * One atomic batch deletes the shards and adds to `base` what they held. Each delete carries the precondition that its
 * shard is still as it was measured: a straggler's write in between makes the whole batch fail, and nothing was folded.
 * So a fold needs no read of its own, takes no lock that a writer could wait on, and repeating it is harmless.
 */
import {
  type CollectionReference,
  type DocumentReference,
  FieldValue,
  type Firestore,
  type Timestamp,
} from "firebase-admin/firestore";
import {
  BASE_SHARD,
  isPreconditionFailure,
  isRegister,
  type RegisterDocument,
  registerPath,
} from "../../core/src/index.ts";
import type { Config } from "./config.ts";
import { toMillis, toTimestamp } from "./counter.ts";
import { type MeasuredShard, type Measurement, shardIndex } from "./measure.ts";

/** Deletes per batch: a straggler fails one batch, not the fold. */
const BATCH = 200;

/** How long it is remembered what a register stood at, for a process that comes back. */
const REGISTER_TTL_MS = 90 * 86_400_000;

/**
 * Whether a shard need not stay: it lies beyond the shard count (written before a shrink, by a stale writer or one that
 * spread wider), or is the register of a process, which opens another when it comes back.
 */
export function isSurplus({ id }: MeasuredShard, shardCount: number): boolean {
  const index = shardIndex(id);
  return index === undefined ? isRegister(id) : index >= shardCount;
}

/** The surplus shards that have been quiet for the cool-down, so that folding them is unlikely to meet a straggler. */
export function foldable(
  measurement: Measurement,
  shardCount: number,
  { shrinkCooldown }: Pick<Config, "shrinkCooldown">,
): MeasuredShard[] {
  const quietSince = toMillis(measurement.asOf) - shrinkCooldown;
  return measurement.shards.filter((shard) => isSurplus(shard, shardCount) && toMillis(shard.updatedAt) <= quietSince);
}

/**
 * Moves shards into `base`. Cost: 1 delete per shard, 1 write per register and 1 per 200 shards.
 *
 * @returns how many shards were folded; those of a batch that met a straggler are left for the next time
 */
export async function fold(
  firestore: Firestore,
  shards: CollectionReference,
  quiet: readonly MeasuredShard[],
): Promise<number> {
  const counter = (shards.parent as DocumentReference).path;
  let folded = 0;
  for (let start = 0; start < quiet.length; start += BATCH) {
    const some = quiet.slice(start, start + BATCH);
    const batch = firestore.batch();
    for (const { id, count, updatedAt } of some) {
      batch.delete(shards.doc(id), { lastUpdateTime: updatedAt });
      if (!isRegister(id)) continue;
      const expireAt = toTimestamp(toMillis(updatedAt) + REGISTER_TTL_MS);
      batch.set(firestore.doc(registerPath(counter, id)), {
        folded: count,
        expireAt,
      } satisfies RegisterDocument<Timestamp>);
    }
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

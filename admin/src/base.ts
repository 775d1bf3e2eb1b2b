/**
 * How a server changes the total of a counter: it adds a number to `shards/base`, on the precondition that `base` is as it was
 * when the shards were listed.
 *
 * Clients never write `base`, so none waits and none is refused. A fold, a reset or a correction in between makes the commit
 * fail, and the caller lists the shards again. A repetition of the same commit fails likewise, so it cannot add twice.
 */
import { FieldValue, type QuerySnapshot, type WriteBatch } from "firebase-admin/firestore";
import {
  BASE_SHARD,
  CounterError,
  isCount,
  isPreconditionFailure,
  overflow,
  sumOfCounts,
} from "../../core/src/index.ts";
import { backoff, retry, throwIfAborted } from "../../firestore/src/index.ts";
import { type CounterRef, counterDoc, shardDoc } from "./counter.ts";

/** The sum of listed shards. */
export function sumOf(shards: QuerySnapshot): number {
  return sumOfCounts(shards.docs.map((shard) => shard.get("count")));
}

/** The sum of the absolute values. */
export function magnitudeOf(shards: QuerySnapshot): number {
  return sumOfCounts(shards.docs.map((shard) => Math.abs(shard.get("count"))));
}

/**
 * Adds `by` to `base`, on the precondition that it is as listed among `shards`. The next publish leaves it out of the windows,
 * by the field `adjusted` of the counter document. Cost: 2 writes of the batch.
 *
 * @throws CounterError `counter/overflow` if the shards add up to infinity, which no number added to `base` can change
 */
export function adjustBase(batch: WriteBatch, ref: CounterRef, shards: QuerySnapshot, by: number): void {
  if (!Number.isFinite(by)) throw overflow(ref.id);
  const base = shardDoc(ref, BASE_SHARD);
  const before = shards.docs.find(({ id }) => id === BASE_SHARD);
  // A count that is no finite number was left out of the sum, and is replaced.
  const count = before && !isCount(before.get("count")) ? by : FieldValue.increment(by);
  const correction = { shard: BASE_SHARD, count, at: FieldValue.serverTimestamp() };
  if (before) batch.update(base, correction, { lastUpdateTime: before.updateTime });
  else batch.create(base, { writes: 0, ...correction });
  if (by !== 0) batch.set(counterDoc(ref), { adjusted: FieldValue.increment(by) }, { merge: true });
}

/** `base`, or another document of the commit, was written after it was read. The cause is Firestore's error. */
class Changed extends Error {}

/** Commits a batch with an {@link adjustBase}, in an attempt of {@link retryAdjustment}. */
export async function commitAdjustment(batch: WriteBatch): Promise<void> {
  throwIfAborted();
  try {
    await batch.commit();
  } catch (error) {
    throw isPreconditionFailure(error) ? new Changed(undefined, { cause: error }) : error;
  }
}

/** How often `base` may change between a listing and its commit. With the waits in between, this takes about a minute, two at most. */
export const ADJUSTMENT_RETRIES = 20;

/**
 * Repeats an adjustment while `base` changes in between or the outcome is unknown, with backoff and jitter, so that several
 * servers that compete for `base` all succeed.
 *
 * @param attempt  lists the shards and commits with {@link commitAdjustment}; must be safe to repeat
 * @throws CounterError `counter/contention` if `base` has changed each time
 */
export async function retryAdjustment<T>({ id }: CounterRef, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await retry(attempt);
    } catch (error) {
      if (!(error instanceof Changed)) throw error;
      if (tries === ADJUSTMENT_RETRIES) throw contention(id, error.cause);
      await backoff(tries);
    }
  }
}

function contention(id: string, cause: unknown): CounterError {
  return new CounterError(
    "counter/contention",
    `"${id}" was changed by others before each of ${ADJUSTMENT_RETRIES + 1} attempts of this call; try again later. If servers count fractions, which go to shards/base, count whole units; do not reset or reconcile from several servers at once`,
    cause,
  );
}

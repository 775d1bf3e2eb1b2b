/**
 * Removes expired marks that clients have left. Increments in transactions remove them; those in the SDK's queue and in an app's own
 * batches do not, and a script may leave many. With each 512th write of a counter the functions look at a random shard,
 * so a shard is looked at once in 512 of its own writes, on average. On Firestore's Enterprise edition they look with each 16th, since a
 * write of a shard above 1 KiB costs twice as much there.
 */
import { type CollectionReference, type DocumentSnapshot, FieldValue } from "firebase-admin/firestore";
import { commitUnlessChanged, withTimeout } from "../../../firestore/src/index.ts";
import { logError } from "./log.ts";
import { type Cleaning, expiredSlots } from "./markCleaning.ts";
import { type Millis, toMillis } from "./time.ts";

/** The next publish of the counter waits for this, so a locked shard must not hold them up for long. */
const TIMEOUT_MS: Millis = 2_000;

/**
 * Removes expired marks of some shards. A failure is logged and has no effect, because a later cleaning repeats it.
 *
 * Cost: 1 read for each shard, and 1 write for each that has more than a few expired marks.
 */
export async function cleanMarks(
  shards: CollectionReference,
  ids: readonly string[],
  cleaning: Cleaning,
): Promise<void> {
  if (ids.length === 0) return;
  try {
    await withTimeout(TIMEOUT_MS, clean(shards, ids, cleaning));
  } catch (error) {
    logError("could not remove expired marks; a later publish will", { counter: shards.parent?.id, error });
  }
}

async function clean(shards: CollectionReference, ids: readonly string[], cleaning: Cleaning): Promise<void> {
  const found = await shards.firestore.getAll(...ids.map((id) => shards.doc(id)), { fieldMask: ["marks"] });
  await Promise.all(found.map((shard) => removeExpired(shard, cleaning)));
}

async function removeExpired(shard: DocumentSnapshot, cleaning: Cleaning): Promise<void> {
  const { ref, updateTime, readTime } = shard;
  const expired = expiredSlots(shard.get("marks"), toMillis(readTime), cleaning);
  if (!updateTime || expired.length === 0) return;
  const batch = ref.firestore.batch();
  const removals = Object.fromEntries(expired.map((name) => [`marks.${name}`, FieldValue.delete()]));
  batch.update(ref, removals, { lastUpdateTime: updateTime });
  // If the shard has been written meanwhile, a later cleaning removes them.
  await commitUnlessChanged(batch);
}

/**
 * Removes expired marks that clients have left. Increments in transactions remove them; those in the SDK's queue and in an app's own
 * batches do not, and a script may leave many. With each 512th write of a counter the functions look at a random shard,
 * so a shard is looked at once in 512 of its own writes, on average.
 */
import { type CollectionReference, type DocumentSnapshot, FieldValue, type Timestamp } from "firebase-admin/firestore";
import { commitUnlessChanged, withTimeout } from "../../../admin/src/internal.ts";
import {
  MARK_LIFETIME_SECONDS,
  MARK_WINDOWS,
  type ShardDocument,
  WRITES_PER_MARK_LOOK,
} from "../../../core/src/index.ts";
import { logError } from "./log.ts";
import { type Millis, toMillis } from "./time.ts";

/** Looks after one publish. */
const MAX_LOOKS = 20;

/** The next publish of the counter waits for its looks, so a locked shard must not hold them up for long. */
const TIMEOUT_MS: Millis = 2_000;

/** A removal costs a write, so fewer expired marks may stay. */
const FEW_MARKS = 100;

/**
 * The ids of the shards to look at after a publish.
 *
 * @param before      `writes` of the publish before
 * @param after       `writes` of this publish
 * @param shardCount  writers choose among so many
 * @param random      uniform in [0, 1)
 */
export function shardsToLookAt(before: number, after: number, shardCount: number, random: () => number): string[] {
  const looksUntil = (writes: number) => Math.floor(writes / WRITES_PER_MARK_LOOK);
  const looks = Math.min(looksUntil(after) - looksUntil(before), MAX_LOOKS);
  return [...new Set(Array.from({ length: looks }, () => `${Math.floor(random() * shardCount)}`))];
}

/** The windows whose marks can be removed at a time; none if they have few marks in all. */
export function expiredWindows(marks: Partial<ShardDocument<Timestamp>["marks"]> | undefined, now: Millis): string[] {
  const names = Array.from({ length: MARK_WINDOWS }, (_, n) => `${n}`);
  const expired = names.filter((name) => {
    const at = marks?.[name]?.at;
    return at && toMillis(at) + MARK_LIFETIME_SECONDS * 1_000 < now;
  });
  const sizes = expired.map((name) => marks?.[name]?.nonces?.length ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0) > FEW_MARKS ? expired : [];
}

/**
 * Looks at some shards. A failure is logged and has no effect, because a later look repeats it.
 *
 * Cost: 1 read for each shard, and 1 write for each that has more than 100 expired marks.
 */
export async function cleanMarks(shards: CollectionReference, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  try {
    await withTimeout(TIMEOUT_MS, lookAt(shards, ids));
  } catch (error) {
    logError("could not remove expired marks; a later publish will", { counter: shards.parent?.id, error });
  }
}

async function lookAt(shards: CollectionReference, ids: readonly string[]): Promise<void> {
  const found = await shards.firestore.getAll(...ids.map((id) => shards.doc(id)), { fieldMask: ["marks"] });
  await Promise.all(found.map(removeExpired));
}

async function removeExpired(shard: DocumentSnapshot): Promise<void> {
  const { ref, updateTime, readTime } = shard;
  const expired = expiredWindows(shard.get("marks"), toMillis(readTime));
  if (!updateTime || expired.length === 0) return;
  const batch = ref.firestore.batch();
  const removals = Object.fromEntries(expired.map((name) => [`marks.${name}`, FieldValue.delete()]));
  batch.update(ref, removals, { lastUpdateTime: updateTime });
  // If the shard has been written meanwhile, a later look removes them.
  await commitUnlessChanged(batch);
}

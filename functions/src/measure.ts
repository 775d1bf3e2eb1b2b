/**
 * Measures a counter: what its shards sum up to, at one instant. A few shards are listed, which tells when each was written;
 * more are summed by the index, whatever their number (`client/src/admin/sum.ts`).
 */
import type { CollectionReference } from "firebase-admin/firestore";
import { logger } from "firebase-functions";
import { type ListedShard, type ShardSum, sumOfListed, sumShards } from "../../client/src/admin/sum.ts";
import type { Millis } from "./config.ts";
import { toMillis } from "./counterDocument.ts";
import { FEW } from "./shards.ts";

export interface Measurement extends Omit<ShardSum, "withoutIndex"> {
  /** The shards one by one, if there are only a few. */
  readonly shards?: readonly ListedShard[];
  /** The collection that is counted instead of shards, and what that cost in reads. `total` is its size. */
  readonly counted?: { readonly path: string; readonly reads: number };
}

/** @param documents  how many shards there were when the counter was measured last */
export async function measureShards(shards: CollectionReference, documents: number): Promise<Measurement> {
  const list = async () => {
    const listed = sumOfListed(
      await shards
        .select("count", "writes")
        .limit(FEW + 1)
        .get(),
    );
    return listed.documents <= FEW ? listed : undefined;
  };
  const few = documents <= FEW ? await list() : undefined;
  if (few) return few;
  const { withoutIndex, ...sum } = await sumShards(shards);
  if (withoutIndex) warnOnce(WARNINGS[withoutIndex]);
  // Of a few, it matters which they are.
  return (sum.documents <= FEW && (await list())) || sum;
}

/** Whether this measurement is certain to include the write that left `shardId` as it was at `committedAt`. */
export function includes({ shards = [] }: Measurement, shardId: string | undefined, committedAt: Millis): boolean {
  const shard = shards.find(({ id }) => id === shardId);
  return shard !== undefined && toMillis(shard.updatedAt) >= committedAt;
}

const WARNINGS = {
  missing: "the index of `shards` is missing, so each measurement reads every shard: deploy firestore.indexes.json",
  incomplete:
    "some shards are not in the index, so each measurement reads every shard: give them the fields of docs/data-model.md",
} as const;

const warned = new Set<string>();

/** One line for each instance: what it says holds for all counters, or for one that is measured every second. */
function warnOnce(message: string): void {
  if (!warned.has(message)) logger.warn(message);
  warned.add(message);
}

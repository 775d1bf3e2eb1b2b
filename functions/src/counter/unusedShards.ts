/**
 * Unused shards: the client shards that writers no longer choose. Contention made them, or the shard count has shrunk. They
 * are silent, so an otherwise idle counter is polled until they are folded.
 *
 *        some may be unused                        a poll folds those not written within the cool-down
 *   ───────────┼─────────────── cool-down ──────────────┼─────────────────────▶
 *              ▲                                        │ it leaves some: written within the cool-down
 *              └──────── at the last of their writes ───┘
 *
 * A fold reads every shard. A counter is folded about twice in a cool-down at most: the second fold is due when the last shard that the
 * first has left has been quiet for a cool-down. If another publish comes before that of the folding poll, the fold is repeated, but not where
 * there are many shards.
 */
import { BASE_SHARD } from "../../../core/src/index.ts";
import type { Cause } from "./cause.ts";
import { shardsBeyond } from "./measurement.ts";
import { isQuiet } from "./phase.ts";
import { FOLD_PAGE_SIZE } from "./shards.ts";
import type { Millis } from "./time.ts";
import type { CorePublished, CounterSettings, MeasuredState, Published, ShardSettings } from "./types.ts";

type InUse = Pick<CorePublished, "phase" | "shardCount">;
type Timed = Pick<CorePublished, "phase" | "asOf" | "calmSince" | "unusedSince" | "shardDocuments">;
type Cooldown = Pick<CounterSettings, "shrinkCooldown">;

/**
 * The index from which shards are unused. Writers choose shards below the shard count. A cooling counter has no writers, so all its silent
 * shards are unused; if folds leave units, clients need the shards. A feature may keep more.
 */
export function firstUnused({ phase, shardCount }: InUse, { keptShards, foldsOnlyEmpty }: ShardSettings): number {
  return phase === "cooling" && !foldsOnlyEmpty ? keptShards : Math.max(shardCount, keptShards);
}

/** Whether this poll may fold: the one at `nextPollAt`, so that one instance folds, or another attempt. */
export function isFoldingPoll({ isPoll, at, isRetry }: Cause, previous: Published | undefined): boolean {
  return isPoll && (isRetry === true || at === previous?.nextPollAt);
}

/**
 * Since when shards may be unused, after a publish; `null` if none can be folded.
 *
 *     a list: none beyond the index                                          null
 *     a list or a sum: more shards than are in use                           some are unused
 *     a sum: more documents than before, or fewer shards in use              some may be unused, until a fold has listed them
 *     the same, with more than one page of documents                         null: the fold would cost more than they do
 */
export function unusedSinceAfter(
  cause: Cause,
  { previous, folded, measurement, settings }: Omit<MeasuredState, "added">,
  next: Omit<Timed, "unusedSince"> & InUse,
  config: Cooldown,
): Millis | null {
  const { shards, collectionCount, malformed } = measurement;
  const { shardDocuments: documents } = next;
  const index = firstUnused(next, settings);
  const beyond = shardsBeyond(measurement, index);
  // A malformed base stays malformed, whatever is added to it, so nothing is folded.
  if (collectionCount || malformed?.includes(BASE_SHARD)) return null;
  if (beyond === 0 && (shards || documents > FOLD_PAGE_SIZE)) return null;
  // Shards that no fold can move, such as malformed ones, are read again one cool-down later.
  if (folded) return folded.lastWritten ?? (beyond > 0 ? next.asOf : null);
  if (typeof previous?.unusedSince === "number") {
    // Another instance may be folding now, and this publish makes its publish fail. So a fold of many shards counts as done.
    const isRepeated = documents > FOLD_PAGE_SIZE && mayBeFolding(cause, previous, next.asOf, config);
    return isRepeated ? next.asOf : previous.unusedSince;
  }
  const areMore = documents > (previous?.shardDocuments ?? 0);
  const areFewerInUse = previous !== undefined && index < firstUnused(previous, settings);
  if (beyond === 0 && !areMore && !areFewerInUse) return null;
  return isQuiet(next.phase) ? next.calmSince : next.asOf;
}

/** Whether another instance may be folding: a fold was due at the scheduled poll, whose time is over. */
function mayBeFolding(cause: Cause, previous: Published, asOf: Millis, config: Cooldown): boolean {
  const { nextPollAt } = previous;
  if (nextPollAt === null || nextPollAt >= asOf || isFoldingPoll(cause, previous)) return false;
  return timeToFold({ ...previous, asOf: nextPollAt }, config) <= 0;
}

/**
 * The time until a poll folds; 0 or less if a fold is due, infinite if nothing is to be folded. A cooling counter with many shards is
 * folded when all silent ones can go, so that they are read once.
 */
export function timeToFold(
  { phase, asOf, calmSince, unusedSince, shardDocuments }: Timed,
  { shrinkCooldown }: Cooldown,
): Millis {
  if (unusedSince === null) return Number.POSITIVE_INFINITY;
  const foldsAllAtOnce = phase === "cooling" && shardDocuments > FOLD_PAGE_SIZE;
  const since = foldsAllAtOnce ? Math.max(unusedSince, calmSince ?? 0) : unusedSince;
  return since + shrinkCooldown - asOf;
}

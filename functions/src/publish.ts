/**
 * Publishes a measurement: decides what the counter document becomes, and writes it if nobody else has meanwhile.
 *
 * The values are absolute and the write is guarded by the document's last update, so duplicates and reordering are
 * harmless: of two publishers one wins, and the other looks again (I3).
 */
import { FieldPath, FieldValue, type Timestamp } from "firebase-admin/firestore";
import {
  BASE_SHARD,
  codeOf,
  groupOf,
  HISTORY,
  type HistoryDocument,
  type HistoryState,
  INVALID_ARGUMENT,
  isPreconditionFailure,
  NOT_FOUND,
  SHARDS,
} from "../../core/src/index.ts";
import { decideScaling } from "./autoscale.ts";
import type { Config, Millis } from "./config.ts";
import { type Published, type Seen, type StoredCounter, toMillis, toTimestamp } from "./counter.ts";
import { demandOf } from "./demand.ts";
import { isBusyMinute, type Kept } from "./history.ts";
import { isSparse } from "./interval.ts";
import { logError } from "./log.ts";
import { isSilent, type Measurement, WOKEN } from "./measure.ts";
import type { MirrorTarget } from "./mirror.ts";

/**
 * What the counter becomes.
 *
 * @param previous  the last publish, if any: rates and shrinking are relative to it
 * @param wokenAt   when the counter was woken, if it slept
 */
export function nextPublished(
  previous: Published | undefined,
  measurement: Measurement,
  config: Config,
  wokenAt?: Millis,
): Published {
  const { recount } = measurement;
  const asOf = toMillis(measurement.asOf);
  const writes = writesBy(previous, measurement);
  const observed = previous ? ((writes - previous.writes) * 1_000) / Math.max(asOf - previous.asOf, 1) : 0;
  // Rounded here and not when it is written: all instances must draw the same conclusions from the same number.
  const rate = Number(observed.toPrecision(6));
  const scaling = previous ?? { shardCount: config.minShards, calmSince: null, growing: false };
  // Nobody needs a shard of a counter that counts a collection.
  const { shardCount, calmSince, growing } = recount
    ? { shardCount: config.minShards, calmSince: null, growing: false }
    : decideScaling(demandOf(previous, measurement, wokenAt, config), scaling, asOf, config);
  const ids = [...measurement.shards.map(({ id }) => id), ...measurement.malformed];
  return {
    total: measurement.total,
    shardCount,
    writes,
    rate,
    publishes: (previous?.publishes ?? 0) + 1,
    asOf,
    calmSince,
    // Who asks in its first second is told to ask again.
    growing: growing || (!previous && !recount),
    unsettled: shardCount > config.minShards || !isSparse(rate, config) || ids.some((id) => !WOKEN.includes(id)),
    silentShards: measurement.shards.filter(isSilent).length,
    shardDocuments: ids.length + (recount?.reads ?? 0),
    busyMinute: isBusyMinute(previous, { rate, asOf }, config),
    malformed: measurement.malformed,
  };
}

/**
 * How many writes there have been. Of a collection, at least as many as its count has moved by: a creation and a deletion
 * since the last measurement cancel out. It feeds the rate; no instant is taken for covered because of it.
 */
function writesBy(previous: Published | undefined, { recount, total, writes }: Measurement): number {
  if (!recount) return Math.max(writes, previous?.writes ?? 0);
  if (!previous) return total;
  // An ordinary counter before, it may have held any number.
  const moved = Math.abs(total - previous.total);
  return previous.writes + (Number.isSafeInteger(moved) ? moved : 0);
}

/**
 * Whether a measurement must be published: some shard was written since the last publish, or what it says changes.
 *
 * Where a collection is counted, always. A creation and a deletion cancel out in its count, so a measurement may find
 * nothing new, while somebody who measured in between is about to publish what is no longer true. Only a publish makes
 * that one fail. (Shards cannot go back: whatever is written to them shows.)
 */
export function isNews(previous: Published | undefined, next: Published, { recount, shards }: Measurement): boolean {
  if (recount) return true;
  // Of a counter that does not exist, or was deleted, there is nothing to tell.
  if (!previous) return next.shardDocuments > 0;
  const written = shards.some(({ updatedAt }) => toMillis(updatedAt) > previous.asOf);
  return written || saidBy(previous) !== saidBy(next);
}

/** What a publish says, apart from when it was made; that a counter grows no more can wait for the next. */
function saidBy({ asOf: _, publishes: __, busyMinute: ___, growing: ____, ...rest }: Published): string {
  return JSON.stringify(rest);
}

/**
 * Writes the counter document, if it is still as it was seen, and with it, in one commit, what must not differ from
 * it: `base` of a counter that counts a collection, the mirror, and the history. Cost: 1 write for each.
 *
 * A mirror must never be in the way. One whose document is missing or takes no more is left out; then the next change of
 * the total tries again. It takes no read to see whether it was the mirror that failed: without it, the same guard decides.
 *
 * @param mirror  where the total also goes, if it has changed
 * @param kept    what goes into the history
 * @returns whether it was written; if not, somebody else published
 */
export async function publish(
  seen: Pick<Seen, "ref" | "updateTime">,
  next: Published,
  measurement: Pick<Measurement, "asOf" | "recount">,
  mirror?: MirrorTarget,
  kept: readonly Kept[] = [],
): Promise<boolean> {
  try {
    await commit(seen, next, measurement, kept, mirror).catch(async (error) => {
      if (!mirror || ![NOT_FOUND, INVALID_ARGUMENT].includes(codeOf(error) ?? 0)) throw error;
      await commit(seen, next, measurement, kept);
      // A document that is missing is an ordinary thing.
      if (codeOf(error) === INVALID_ARGUMENT) {
        const { document } = mirror;
        logError("could not mirror a total: its document takes no more", { counter: seen.ref.id, document, error });
      }
    });
    return true;
  } catch (error) {
    if (isPreconditionFailure(error)) return false;
    throw error;
  }
}

async function commit(
  { ref, updateTime }: Pick<Seen, "ref" | "updateTime">,
  next: Published,
  { asOf, recount }: Pick<Measurement, "asOf" | "recount">,
  kept: readonly Kept[],
  mirror?: MirrorTarget,
): Promise<void> {
  const document: StoredCounter = {
    ...stateOf(next),
    asOf,
    group: groupOf(ref.id),
    calmSince: next.calmSince === null ? null : toTimestamp(next.calmSince),
    growing: next.growing,
    unsettled: next.unsettled,
    silentShards: next.silentShards,
    shardDocuments: next.shardDocuments,
    busyMinute: next.busyMinute,
    malformed: [...next.malformed],
  };
  const batch = ref.firestore.batch();
  if (updateTime) batch.update(ref, { ...document }, { lastUpdateTime: updateTime });
  else batch.create(ref, document);
  if (recount?.correction) {
    // The counter document's guard is not enough: the measurement may be older than a publish that moved `base`.
    const { count, otherWrites, over } = recount.correction;
    const base = ref.collection(SHARDS).doc(BASE_SHARD);
    const writes = Math.max(next.writes - otherWrites, 0);
    const corrected = { count, writes, at: FieldValue.serverTimestamp() };
    if (over) batch.update(base, corrected, { lastUpdateTime: over });
    else batch.create(base, corrected);
  }
  if (mirror) batch.update(ref.firestore.doc(mirror.document), new FieldPath(...mirror.field), next.total);
  for (const { state, id, key, expireAt } of kept) {
    const points = { [key]: stateOf(state) };
    const history: HistoryDocument<Timestamp> = { points, expireAt: toTimestamp(expireAt) };
    batch.set(ref.collection(HISTORY).doc(id), history, { merge: true });
  }
  await batch.commit();
}

/** What everyone may know of a publish, and what is kept of it. */
function stateOf({ total, shardCount, writes, rate, publishes, asOf }: Published): HistoryState<Timestamp> {
  return { total, shardCount, writes, rate, publishes, asOf: toTimestamp(asOf) };
}

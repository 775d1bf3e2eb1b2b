/**
 * Publishes a measurement: decides what the counter document becomes, and writes it if nobody else has meanwhile.
 *
 * The values are absolute and the write is guarded by the document's last update, so duplicates and reordering are
 * harmless: of two publishers one wins, and the other looks again (I3).
 */
import type { DocumentSnapshot } from "firebase-admin/firestore";
import { groupOf, isPreconditionFailure } from "../../core/src/index.ts";
import { decideScaling } from "./autoscale.ts";
import type { Config, Millis } from "./config.ts";
import { type Published, type StoredCounter, toMillis, toTimestamp } from "./counter.ts";
import { isSurplus } from "./fold.ts";
import { isSparse } from "./interval.ts";
import type { Measurement } from "./measure.ts";

/**
 * What the counter becomes.
 *
 * @param previous  the last publish, if any: rates and shrinking are relative to it
 */
export function nextPublished(previous: Published | undefined, measurement: Measurement, config: Config): Published {
  const asOf = toMillis(measurement.asOf);
  const writes = Math.max(measurement.writes, previous?.writes ?? 0);
  const observed = previous ? ((writes - previous.writes) * 1_000) / Math.max(asOf - previous.asOf, 1) : 0;
  // Rounded here and not when it is written: all instances must draw the same conclusions from the same number.
  const rate = Number(observed.toPrecision(6));
  const scaling = previous ?? { shardCount: config.minShards, calmSince: null };
  const { shardCount, calmSince } = decideScaling(rate, scaling, asOf, config);
  const surplus = measurement.shards.some((shard) => isSurplus(shard, shardCount));
  return {
    total: measurement.total,
    shardCount,
    writes,
    rate,
    asOf,
    calmSince,
    unsettled: shardCount > config.minShards || surplus || !isSparse(rate, config),
    shardDocuments: measurement.shards.length + measurement.malformed.length,
    malformed: measurement.malformed,
  };
}

/**
 * Whether a publish would tell anyone anything: some shard was written since the last one, or what it says changes.
 *
 * @param margin  how far the database's snapshots may lag behind its commits
 */
export function isNews(
  previous: Published | undefined,
  next: Published,
  measurement: Measurement,
  margin: Millis,
): boolean {
  // Of a counter that does not exist, or was deleted, there is nothing to tell.
  if (!previous) return next.shardDocuments > 0;
  const written = measurement.shards.some(({ updatedAt }) => toMillis(updatedAt) > previous.asOf - margin);
  const { asOf: _, ...before } = previous;
  const { asOf: __, ...after } = next;
  return written || JSON.stringify(before) !== JSON.stringify(after);
}

/**
 * Writes the counter document, if it is still as `snapshot` saw it. Cost: 1 write.
 *
 * @returns whether it was written; if not, somebody else published
 */
export async function publish(
  snapshot: DocumentSnapshot,
  next: Published,
  asOf: Measurement["asOf"],
): Promise<boolean> {
  const document: StoredCounter = {
    total: next.total,
    shardCount: next.shardCount,
    writes: next.writes,
    rate: next.rate,
    asOf,
    group: groupOf(snapshot.id),
    calmSince: next.calmSince === null ? null : toTimestamp(next.calmSince),
    unsettled: next.unsettled,
    shardDocuments: next.shardDocuments,
    malformed: [...next.malformed],
  };
  try {
    if (snapshot.updateTime) {
      await snapshot.ref.update({ ...document }, { lastUpdateTime: snapshot.updateTime });
    } else {
      await snapshot.ref.create(document);
    }
    return true;
  } catch (error) {
    if (isPreconditionFailure(error)) return false;
    throw error;
  }
}

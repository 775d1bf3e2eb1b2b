/**
 * Measures a counter: lists its shards at one snapshot and sums them.
 *
 * A query reads at one instant by itself, so no transaction is needed, no lock is taken and a writer never waits. The
 * query's read time is what the sum is exact for.
 */
import type { CollectionReference, QuerySnapshot, Timestamp } from "firebase-admin/firestore";
import { BASE_SHARD, isCount } from "../../core/src/index.ts";
import type { Millis } from "./config.ts";
import { toMillis } from "./counter.ts";
import type { Recount } from "./recount.ts";

/** One shard as it was measured. */
export interface MeasuredShard {
  readonly id: string;
  readonly count: number;
  readonly writes: number;
  /** When the document last changed. Also the precondition of folding it. */
  readonly updatedAt: Timestamp;
}

export interface Measurement {
  /** The sum of `count` over all shards that have one. */
  readonly total: number;
  /** The sum of `writes` over all shards. */
  readonly writes: number;
  /** The instant both are exact for. */
  readonly asOf: Timestamp;
  /** Every shard that could be summed. */
  readonly shards: readonly MeasuredShard[];
  /** Ids of shards whose `count` is not a finite number: left out of the total. */
  readonly malformed: readonly string[];
  /** Of a counter that counts a collection: then `total` is how many documents there are. */
  readonly recount?: Recount;
}

/** Lists and sums the shards. Cost: 1 read per shard, at least 1. The mask keeps `marks` off the wire. */
export async function measure(shards: CollectionReference): Promise<Measurement> {
  return summarize(await shards.select("count", "writes").get());
}

/** Sums shards that were listed. */
export function summarize(snapshot: QuerySnapshot): Measurement {
  const shards: MeasuredShard[] = [];
  const malformed: string[] = [];
  let total = 0;
  let writes = 0;
  for (const doc of snapshot.docs) {
    const count: unknown = doc.get("count");
    const landed = writesOf(doc.get("writes"));
    writes += landed;
    if (!isCount(count)) {
      malformed.push(doc.id);
      continue;
    }
    shards.push({ id: doc.id, count: count ?? 0, writes: landed, updatedAt: doc.updateTime });
    total += count ?? 0;
  }
  return { total, writes, asOf: snapshot.readTime, shards, malformed };
}

/** A server may write `count` alone; that blinds the rate and nothing else. */
function writesOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** Whether this measurement is certain to include the write that left `shardId` as it was at `committedAt`. */
export function includes(measurement: Measurement, shardId: string, committedAt: Millis): boolean {
  const shard = measurement.shards.find(({ id }) => id === shardId);
  return shard !== undefined && toMillis(shard.updatedAt) >= committedAt;
}

/** The shards whose every write wakes their counter. A client that knows of no others writes to the first of them. */
export const WOKEN: readonly string[] = ["0", BASE_SHARD];

/**
 * Whether a shard is silent: once it exists, its writes wake nobody. What nobody is told of must be looked for, so a
 * counter that has one is polled.
 */
export function isSilent({ id }: MeasuredShard): boolean {
  return shardIndex(id) !== undefined && !WOKEN.includes(id);
}

/** The index of a client's shard; `undefined` for `base` and anything else that is not a plain decimal index. */
export function shardIndex(id: string): number | undefined {
  return /^(0|[1-9]\d{0,3})$/.test(id) ? Number(id) : undefined;
}

/**
 * Which counters `doctor` looks at: some by id, from a random letter on so that each run sees others, and those whose scheduled
 * measurement or reconcile is past.
 *
 * Counters are found by their shards, because one that was never published has no document. One query on names skips from a
 * shard to the next counter, for 1 read each.
 */
import { randomInt } from "node:crypto";
import { FieldPath, Timestamp } from "firebase-admin/firestore";
import { SHARDS } from "../../../core/src/index.ts";
import { POLLED_PHASES } from "../../../functions/src/decisions.ts";
import type { CommandContext } from "../commandContext.ts";
import type { ReadMeter } from "./readMeter.ts";

/** A reconcile that is later than this was not made by the sweep, which runs every five minutes. */
const OVERDUE_MS = 15 * 60_000;
const LISTED_OVERDUE = 5;

/** They sort before and behind the ids that there are. */
const [FIRST, LAST] = ["\u0001", "\u{10ffff}"];

export async function sampleIds({ firestore, target }: CommandContext, size: number, meter: ReadMeter) {
  const { collection } = target;
  const shards = firestore.collectionGroup(SHARDS).select().orderBy(FieldPath.documentId()).limit(1);
  const ids: string[] = [];
  const start = String.fromCharCode(randomInt(48, 123));
  const collect = async (from: string, to: string) => {
    for (let after = `${collection}/${from}/${SHARDS}/${FIRST}`; ids.length < size; ) {
      const [shard] = (await shards.startAfter(after).get()).docs;
      meter.reads++;
      if (!shard) return true;
      const [first, id = "", , , ...deeper] = shard.ref.path.split("/");
      if (first !== collection || (to !== "" && id >= to)) return true;
      if (deeper.length === 0) ids.push(id);
      after = `${shard.ref.parent.path}/${LAST}`;
    }
    return false;
  };
  const isComplete = (await collect(start, "")) && (await collect(FIRST, start));
  return { ids, isComplete };
}

/** Polled counters whose poll is past. Cost: 1 read for each that is polled, up to a limit. */
export async function latePolls(
  { firestore, target }: CommandContext,
  limit: number,
  meter: ReadMeter,
): Promise<string[]> {
  const polled = firestore.collection(target.collection).where("phase", "in", POLLED_PHASES).limit(limit);
  const { docs, readTime } = await polled.select("nextPollAt").get();
  meter.reads += Math.max(docs.length, 1);
  return docs
    .filter((counter) => (millis(counter.get("nextPollAt")) ?? Infinity) < readTime.toMillis())
    .map(({ id }) => id);
}

export async function overdueReconciles({ firestore, target }: CommandContext, meter: ReadMeter) {
  const before = Timestamp.fromMillis(Date.now() - OVERDUE_MS);
  const counters = firestore.collection(target.collection);
  const due = counters.where("nextReconcileAt", "<=", before).orderBy("nextReconcileAt").limit(LISTED_OVERDUE);
  const { docs, readTime } = await due.select("nextReconcileAt").get();
  meter.reads += Math.max(docs.length, 1);
  const overdue = docs.map((counter) => ({ id: counter.id, dueAt: millis(counter.get("nextReconcileAt")) ?? 0 }));
  return { overdue, now: readTime.toMillis() };
}

/** A timestamp in milliseconds; `undefined` for any other value. */
export function millis(value: unknown): number | undefined {
  return value instanceof Timestamp ? value.toMillis() : undefined;
}

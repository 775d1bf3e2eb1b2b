/**
 * Sums that have become slow. A write of a shard deletes an entry of the index, and "too many recent deletes" slow an aggregation down
 * (https://cloud.google.com/firestore/docs/resolve-latency), by how much Google does not say. The shards of such a counter are listed
 * instead, for 1 read each, and so it is published less often (interval.ts). After some minutes a sum is tried again.
 */
import type { Millis } from "./time.ts";

/** A sum that takes longer is given up. Two sums, one after the other, make a total as late as the longest interval does. */
export const LONGEST_SUM: Millis = 5_000;

const LISTED_FOR: Millis = 10 * 60_000;

/** Whether shards are listed because a sum was too slow. @param slowSince  when the last sum was given up */
export function isListedFor(slowSince: Millis | null | undefined, now: Millis): slowSince is Millis {
  return typeof slowSince === "number" && now >= slowSince && now < slowSince + LISTED_FOR;
}

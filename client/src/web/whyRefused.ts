/**
 * Why the rules may have refused an increment. Firestore gives no reason; what the client has read since, or could not read, leaves few.
 * The build makes this a file of its own, which is loaded with the first refusal.
 */
import { MAX_LATE_NONCES } from "../../../core/src/index.ts";

/** How many shards that are full of marks an increment tries. */
const MAX_FULL_SHARDS = 4;

/**
 * The most likely cause, and what to do.
 *
 * @param shard - as it is; `undefined` if the client could not read it
 * @param marks - how many marks its current slot has
 * @param kind - an increment with `once`, or the undo of one; else empty
 * @param entry - of the `once`, as it is; `undefined` if the client could not read it
 * @param refusals - how many shards have refused this increment
 * @returns nothing if the shard is full of marks, and another one may not be
 */
export function whyRefused(
  by: number,
  shard: { get(field: string): unknown } | undefined,
  marks: number,
  kind: "increment" | "undo" | "" | undefined,
  entry: { get(field: string): unknown } | undefined,
  refusals: number,
): string {
  const counted = entry?.get("by");
  if (counted) return `it counts ${counted}, undo that first`;
  if (!shard) return "mayReadCounter must allow it, or Tally's block is missing";
  const isMarked = marks >= MAX_LATE_NONCES;
  if (isMarked && kind !== "undo" && refusals < MAX_FULL_SHARDS) return "";
  if (isMarked || Math.abs(Number(shard.get("count")) + by) >= 2 ** 53) return "the shard is full, of marks or at 2^53";
  if (kind === "undo")
    return "once must be the uid, its entry as it was read, and countsOncePerUser or isBounded must name the group";
  if (kind && !entry) return "sign in, once must be the uid";
  if (kind) return "countsOncePerUser must name the group, isAllowedOnceAmount must allow it";
  if (by % 1) return "pass a whole number";
  return "isOpen must name the group, isAllowedAmount allow it; if countsOncePerUser or isBounded names it, pass { once: uid }";
}

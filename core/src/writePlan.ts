/**
 * The writes of one increment, as plain data. Each SDK converts a plan to its own writes; clients for other platforms are
 * tested with the same plans (`docs/vectors.json`).
 */
import { DIRECT, DIRECT_SLOTS, entryPath, MARK_SLOT_MILLIS, MARK_SLOTS, NONCE_BYTES, shardsPath } from "./layout.ts";
import type { Random } from "./shardSelection.ts";

/**
 * A merge into one shard document, or into the counter document. A shard: `count` grows by the amount and `writes` by 1, `shard` becomes the id of the document,
 * `at` the server's time, and one slot of `marks` gets a nonce. The counter document: `total` and `direct.count` grow by the amount,
 * `direct.writes` by 1, `direct.generation` is named, and its slot of `direct.marks` gets a nonce. An increment with `once` creates its entry in the same commit, with
 * `once`, `by`, the id of the shard or `direct`, and the server's time as `at`. Cost: 1 document write, 2 with `once`.
 */
export interface IncrementPlan {
  /** The document that gets the increment, relative to the database. */
  readonly path: string;
  /** The id of the shard, or `direct` for the counter document. */
  readonly shard: string;
  /** The generation that a direct increment joins. */
  readonly generation: number | undefined;
  /** Of a direct increment that creates the counter document: the group of the counter. */
  readonly group?: string | undefined;
  /** Added to `count`. */
  readonly by: number;
  /** The slot of `marks` that gets the nonce: `"0"` to `"4"`, in the counter document to `"7"`. */
  readonly slot: string;
  /**
   * Of a shard: the slot whose marks have expired, if the clock of this device is right. A write that can be made again without may remove
   * it. Of the counter document: the slot of the next generation, which each write removes.
   */
  readonly expired: string;
  /** Identifies the increment: 5 random bytes. */
  readonly nonce: Uint8Array;
  /** The entry document of an increment with `once`, relative to the database. */
  readonly entry: string | undefined;
}

/**
 * Plans one increment by `by`, with a new nonce. The undo of an increment with `once` is an increment by the
 * opposite amount on the same shard; its commit deletes the entry instead of creating it.
 *
 * @param counter  path of the counter document
 * @param place    the id of a shard, or the generation of the counter document
 * @param now      the time of this device, in milliseconds since the epoch. A wrong clock is harmless: it names other slots
 * @param once     what the increment counts once for
 */
export function planIncrement(
  counter: string,
  place: string | number,
  by: number,
  now: number,
  random: Random,
  once?: string,
): IncrementPlan {
  // Any number gives a slot, because a clock may show any.
  const isDirect = typeof place === "number";
  const slots = isDirect ? DIRECT_SLOTS : MARK_SLOTS;
  const slot = ((isDirect ? place : Math.abs(now / MARK_SLOT_MILLIS)) % slots) | 0;
  return {
    path: isDirect ? counter : `${shardsPath(counter)}/${place}`,
    shard: isDirect ? DIRECT : place,
    generation: isDirect ? place : undefined,
    by,
    slot: `${slot}`,
    // Its last writes were planned between 183 and 305 seconds ago, and the next ones will be in a minute at most.
    expired: `${(slot + 1) % slots}`,
    nonce: Uint8Array.from({ length: NONCE_BYTES }, () => random() * 256),
    entry: once && entryPath(counter, once),
  };
}

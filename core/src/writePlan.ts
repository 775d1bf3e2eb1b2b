/**
 * What one increment writes, as plain data. Each SDK turns a plan into its own write; people who write a client for
 * another platform replay the same plans (`docs/vectors.json`).
 */
import { entryPath, MARK_SLOTS, shardsPath } from "./layout.ts";
import type { Random } from "./shardSelection.ts";

/**
 * A merge into one shard document: `count` and `writes` grow by an amount, `at` becomes the server's time, one mark
 * changes. A keyed increment creates its entry in the same commit, with `by`, the id of the shard and the server's time
 * as `at`. Cost: 1 document write, 2 if keyed.
 */
export interface IncrementPlan {
  /** The shard document, relative to the database. */
  readonly path: string;
  /** Added to `count`. */
  readonly by: number;
  /** The slot of `marks` that changes, `"0"` … `"31"`. */
  readonly slot: string;
  /** What the slot becomes: 16 random digits. */
  readonly nonce: string;
  /** The entry document of a keyed increment, relative to the database. */
  readonly entry: string | undefined;
}

/**
 * Plans one increment by `by` on shard `shard`, with a mark of its own. The undo of a keyed increment is planned as an
 * increment without a key, by the opposite amount on the same shard; its commit also deletes the entry.
 *
 * @param counter  path of the counter document
 * @param turn  a number that grows by one with each increment of this writer, from a random start. Taking the slots
 *              in turn keeps a writer from overwriting its own marks: after a cut connection an SDK may replay
 *              several writes at once, and each must still find its mark
 * @param key   the key of a keyed increment
 */
export function planIncrement(
  counter: string,
  shard: string,
  by: number,
  turn: number,
  random: Random,
  key?: string,
): IncrementPlan {
  return {
    path: `${shardsPath(counter)}/${shard}`,
    by,
    slot: `${turn % MARK_SLOTS}`,
    // Some 50 random bits: enough, since a mark is compared with one other.
    nonce: `${Math.floor((1 + random()) * 1e15)}`,
    entry: key && entryPath(counter, key),
  };
}

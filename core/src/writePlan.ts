/**
 * What one increment writes, as plain data. Each SDK turns a plan into its own write; people who write a client for
 * another platform replay the same plans (`docs/vectors.json`).
 */
import { MARK_SLOTS, shardPath } from "./layout.ts";
import type { Random } from "./shardSelection.ts";

/**
 * A merge into one shard document: `count` and `writes` grow by an amount, `at` becomes the server's time, one mark
 * changes. Cost: 1 document write.
 */
export interface IncrementPlan {
  /** The shard document, relative to the database. */
  readonly path: string;
  /** Added to `count`. */
  readonly by: number;
  /** The slot of `marks` that changes, `"0"` … `"31"`. */
  readonly slot: string;
  /** What the slot becomes: 16 random characters of `A–Z a–z 0–9 _ -`. */
  readonly nonce: string;
}

/**
 * Plans one increment by `by` on shard `shard`, with a mark of its own.
 *
 * @param turn  a number that grows by one with each increment of this writer, from a random start. Taking the slots
 *              in turn keeps a writer from overwriting its own marks: after a cut connection an SDK may replay
 *              several writes at once, and each must still find its mark
 */
export function planIncrement(
  collection: string,
  counterId: string,
  shard: number,
  by: number,
  turn: number,
  random: Random,
): IncrementPlan {
  return { path: shardPath(collection, counterId, shard), by, slot: String(turn % MARK_SLOTS), nonce: nonce(random) };
}

/** Whether the marks of a shard show that the write of this plan was committed. */
export function isCommitted(plan: IncrementPlan, marks: unknown): boolean {
  return typeof marks === "object" && marks !== null && (marks as Record<string, unknown>)[plan.slot] === plan.nonce;
}

const NONCE_LENGTH = 16;
const NONCE_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

function nonce(random: Random): string {
  let text = "";
  for (let i = 0; i < NONCE_LENGTH; i++) text += NONCE_ALPHABET[Math.floor(random() * NONCE_ALPHABET.length)];
  return text;
}

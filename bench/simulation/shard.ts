/**
 * A hot document: how long a write of one shard waits.
 *
 * Firestore takes about one sustained write per second of a document, more for a while, and beyond that writes wait for
 * each other until they are refused as ABORTED (https://firebase.google.com/docs/firestore/best-practices). A token bucket
 * says the same with three numbers. It is kept as the time at which the bucket would be full again, so a write costs no
 * more than a comparison, and waiting writes need no queue.
 */
import type { Millis } from "../../functions/src/decisions.ts";

export interface HotDocuments {
  /** Writes per second that a document takes for ever. */
  readonly sustained: number;
  /** Writes that it takes at once after a rest. */
  readonly burst: number;
  /** Writes that wait for a document at most. Any more are refused. */
  readonly longestQueue: number;
  /** How long a write waits before it is refused. */
  readonly refusedAfter: Millis;
}

export class Shard {
  /** What the document holds; `undefined` while there is none. */
  writes: number | undefined;
  updatedAt: Millis = 0;
  /** The time of the oldest mark. */
  markedAt: Millis = 0;
  #full: Millis = 0;

  /** @returns for how long a write that arrives now waits; `undefined` if it is refused */
  offer(now: Millis, { sustained, burst, longestQueue }: HotDocuments): Millis | undefined {
    const each = 1_000 / sustained;
    const full = Math.max(this.#full, now);
    const wait = Math.max(full - (burst - 1) * each - now, 0);
    if (wait > longestQueue * each) return undefined;
    this.#full = full + each;
    return wait;
  }
}

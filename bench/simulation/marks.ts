/**
 * The marks of one shard as a size in bytes: how many each window holds, written and removed by the rules of clients and functions.
 * Firestore's Enterprise edition bills a write by the size of the document as it is after the write.
 */
import { MARK_LIFETIME_SECONDS, MARK_WINDOW_MILLIS, MARK_WINDOWS, NONCE_BYTES } from "../../core/src/index.ts";
import { documentBytes, type StoredFields } from "../../costs/src/index.ts";
import { toTimestamp } from "../../functions/src/counter/fields.ts";
import { CLEANING, expiredWindows, type Millis } from "../../functions/src/decisions.ts";

const at = toTimestamp(0);
const nonce = new Uint8Array(NONCE_BYTES);
const bytesWith = (marks: StoredFields) =>
  documentBytes("counters/views:home/shards/100", { shard: "100", count: 0, writes: 0, at, marks });

const EMPTY_BYTES = bytesWith({});
const WINDOW_BYTES = bytesWith({ "0": { at, nonces: [] } }) - EMPTY_BYTES;
const NONCE_SIZE = bytesWith({ "0": { at, nonces: [nonce] } }) - EMPTY_BYTES - WINDOW_BYTES;

export class Marks {
  readonly #windows = new Map<number, { at: Millis; count: number }>();

  /** @param removes  whether the write removes an expired window, as transactions do */
  add(now: Millis, removes: boolean): void {
    const window = Math.floor(now / MARK_WINDOW_MILLIS) % MARK_WINDOWS;
    const oldest = (window + 1) % MARK_WINDOWS;
    const marks = this.#windows.get(oldest);
    if (removes && marks && marks.at + MARK_LIFETIME_SECONDS * 1_000 < now) this.#windows.delete(oldest);
    this.#windows.set(window, { at: now, count: (this.#windows.get(window)?.count ?? 0) + 1 });
  }

  /** The look of the functions after a publish. @returns whether it removes marks, which costs a write */
  removeExpired(now: Millis): boolean {
    const marks = [...this.#windows].map(([name, { at: written, count }]) => {
      return [name, { at: toTimestamp(written), nonces: Array<Uint8Array>(count).fill(nonce) }];
    });
    const expired = expiredWindows(Object.fromEntries(marks), now, CLEANING.enterprise);
    for (const name of expired) this.#windows.delete(Number(name));
    return expired.length > 0;
  }

  get bytes(): number {
    let bytes = EMPTY_BYTES;
    for (const { count } of this.#windows.values()) bytes += WINDOW_BYTES + count * NONCE_SIZE;
    return bytes;
  }
}

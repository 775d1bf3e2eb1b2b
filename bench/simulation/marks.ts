/**
 * The marks of one shard as a size in bytes: how many each slot holds, written and removed by the rules of clients and functions.
 * Firestore's Enterprise edition bills a write by the size of the document as it is after the write.
 */
import { MARK_LIFETIME_SECONDS, MARK_SLOT_MILLIS, MARK_SLOTS, NONCE_BYTES } from "../../core/src/index.ts";
import { documentBytes, type StoredFields } from "../../costs/src/index.ts";
import { toTimestamp } from "../../functions/src/counter/fields.ts";
import { CLEANING, expiredSlots, type Millis } from "../../functions/src/decisions.ts";

const at = toTimestamp(0);
const nonce = new Uint8Array(NONCE_BYTES);
const bytesWith = (marks: StoredFields) =>
  documentBytes("counters/views:home/shards/100", { shard: "100", count: 0, writes: 0, at, marks });

const EMPTY_BYTES = bytesWith({});
const SLOT_BYTES = bytesWith({ "0": { at, nonces: [] } }) - EMPTY_BYTES;
const NONCE_SIZE = bytesWith({ "0": { at, nonces: [nonce] } }) - EMPTY_BYTES - SLOT_BYTES;

export class Marks {
  readonly #slots = new Map<number, { at: Millis; count: number }>();

  /** @param removes  whether the write removes an expired slot, as transactions do */
  add(now: Millis, removes: boolean): void {
    const slot = Math.floor(now / MARK_SLOT_MILLIS) % MARK_SLOTS;
    const oldest = (slot + 1) % MARK_SLOTS;
    const marks = this.#slots.get(oldest);
    if (removes && marks && marks.at + MARK_LIFETIME_SECONDS * 1_000 < now) this.#slots.delete(oldest);
    this.#slots.set(slot, { at: now, count: (this.#slots.get(slot)?.count ?? 0) + 1 });
  }

  /** The look of the functions after a publish. @returns whether it removes marks, which costs a write */
  removeExpired(now: Millis): boolean {
    const marks = [...this.#slots].map(([name, { at: written, count }]) => {
      return [name, { at: toTimestamp(written), nonces: Array<Uint8Array>(count).fill(nonce) }];
    });
    const expired = expiredSlots(Object.fromEntries(marks), now, CLEANING.enterprise);
    for (const name of expired) this.#slots.delete(Number(name));
    return expired.length > 0;
  }

  get bytes(): number {
    let bytes = EMPTY_BYTES;
    for (const { count } of this.#slots.values()) bytes += SLOT_BYTES + count * NONCE_SIZE;
    return bytes;
  }
}

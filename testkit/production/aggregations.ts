/** What an aggregation query costs, and what makes it slow. */
import type { Millis } from "../statistics.ts";

/** Index entries that are billed as one read (https://firebase.google.com/docs/firestore/pricing#aggregation_queries). */
const ENTRIES_PER_READ = 1_000;

/** Reads that a query bills: one for each started batch of index entries, and at least one. */
export function aggregationReads(entries: number): number {
  return Math.max(Math.ceil(entries / ENTRIES_PER_READ), 1);
}

/**
 * Deleted index entries slow a query down for some time: "Too many recent deletes"
 * (https://cloud.google.com/firestore/docs/resolve-latency). A write that changes an indexed field deletes an entry. Google gives no
 * figures: the hour, for which Firestore keeps old versions, is an assumption.
 */
const DELETED_FOR: Millis = 3_600_000;
const MINUTE: Millis = 60_000;

/** The index entries of a collection that were deleted of late, by the minute. */
export class DeletedEntries {
  readonly #minutes: { readonly from: Millis; entries: number }[] = [];

  /** @param now  never earlier than in the call before */
  add(entries: number, now: Millis): void {
    const from = Math.floor(now / MINUTE) * MINUTE;
    const latest = this.#minutes.at(-1);
    if (latest?.from === from) latest.entries += entries;
    else this.#minutes.push({ from, entries });
  }

  /** How much longer a query takes. @param perThousand  for each 1,000 entries: unknown, so an assumption of the caller */
  slowdown(perThousand: Millis, now: Millis): Millis {
    while ((this.#minutes[0]?.from ?? now) < now - DELETED_FOR) this.#minutes.shift();
    return (this.#minutes.reduce((sum, { entries }) => sum + entries, 0) / 1_000) * perThousand;
  }
}

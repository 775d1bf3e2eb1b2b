/**
 * The reads of one instance, which its requests share: at most one per counter and second, whichever counters they combine.
 *
 *     none or a second old ──▶ being read ──▶ known, or failed ──▶ a second after the read began
 *
 * Requests that come while a counter is being read wait for this read. A total is remembered for as long as a cache keeps an
 * answer at least, a second. So an answer that replaces a cached one was read later than that, also by another instance, and a
 * cache never goes back.
 */
import { withTimeout } from "../../../admin/src/internal.ts";
import { logError } from "../counter/log.ts";
import type { Millis } from "../counter/time.ts";
import { Refusal } from "../http/refusal.ts";

/** The least time between two reads of a counter, failed ones included. */
const MEMORY: Millis = 1_000;

/** A read that takes longer has failed. */
const READ_TIMEOUT: Millis = 5_000;

/** How many counters are remembered, those asked for last: some 10 MB at most, as an id has up to 1,500 bytes. */
export const MAX_COUNTERS = 10_000;

/**
 * How many counters that are not remembered may be read in a second. A group has any number of ids, so that a few requests a
 * second could ask for thousands of counters that do not exist, at a read each.
 */
export const MAX_NEW_PER_SECOND = 500;

/** A published total. */
export interface Reading {
  readonly total: number;
  /** Milliseconds since the epoch. */
  readonly asOf: Millis;
  /** The next one is published then at the earliest. */
  readonly nextDue: Millis;
}

interface Entry {
  readonly startedAt: Millis;
  /** Resolves when the counter was read. */
  readonly reading: Promise<void>;
  /** While it is being read, the one before. */
  latest: Reading | undefined;
  /** Whether it was read, now or before: then `latest` tells whether there is a total. */
  isKnown: boolean;
  isSettled: boolean;
}

/** Reads counters at once. Those without a published total are left out. */
export type ReadTotals = (ids: readonly string[]) => Promise<ReadonlyMap<string, Reading>>;

/**
 * @param now  a monotonic clock
 * @returns    reads what is not known: one answer for each id, `undefined` without a published total. It rejects if a read
 *             has failed, or with a `Refusal` 429
 */
export function createSharedReads(
  read: ReadTotals,
  now: () => Millis,
): (ids: readonly string[]) => Promise<(Reading | undefined)[]> {
  /** The one asked for last is the last. */
  const entries = new Map<string, Entry>();
  let second = { startedAt: Number.NEGATIVE_INFINITY, newCounters: 0 };

  return async (ids) => {
    const due = ids.filter((id) => isDue(entries.get(id)));
    if (due.length > 0) startReading(due);
    const asked = ids.map((id) => touch(id));
    for (const id of entries.keys()) {
      if (entries.size <= MAX_COUNTERS) break;
      entries.delete(id);
    }
    await Promise.all(asked.map(({ reading }) => reading));
    // Not what was read first: while another of the counters was being read, a request may have been given a newer total.
    return ids.map((id, n) => {
      const entry = entries.get(id);
      return (entry?.isKnown ? entry : asked[n])?.latest;
    });
  };

  function isDue(entry: Entry | undefined): boolean {
    return !entry || (entry.isSettled && now() - entry.startedAt >= MEMORY);
  }

  function startReading(ids: readonly string[]): void {
    // Also those that are remembered as having no total: made-up ids would be read again and again.
    charge(ids.filter((id) => entries.get(id)?.latest === undefined).length);
    const startedAt = now();
    const answer = withTimeout(READ_TIMEOUT, read(ids));
    answer.catch((error) => logError("could not read totals; their readers were told so", { counters: ids, error }));
    for (const id of ids) {
      const { latest, isKnown = false } = entries.get(id) ?? {};
      const store = (readings: ReadonlyMap<string, Reading>) => {
        entry.latest = later(entry.latest, readings.get(id));
        entry.isKnown = true;
      };
      const settle = () => {
        entry.isSettled = true;
      };
      const entry: Entry = {
        startedAt,
        reading: answer.then(store).finally(settle),
        latest,
        isKnown,
        isSettled: false,
      };
      entries.set(id, entry);
    }
  }

  function touch(id: string): Entry {
    const entry = entries.get(id) as Entry;
    entries.delete(id);
    entries.set(id, entry);
    return entry;
  }

  function charge(newCounters: number): void {
    if (now() - second.startedAt >= 1_000) second = { startedAt: now(), newCounters: 0 };
    if (second.newCounters + newCounters > MAX_NEW_PER_SECOND) {
      throw new Refusal(429, "too many different counters are asked for; ask again after 1 s", { "retry-after": "1" });
    }
    second.newCounters += newCounters;
  }
}

/** The emulator's snapshots may lag behind. `undefined` for a counter that was deleted. */
function later(before: Reading | undefined, read: Reading | undefined): Reading | undefined {
  return before && read && read.asOf < before.asOf ? before : read;
}

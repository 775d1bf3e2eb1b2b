/**
 * The reads of one instance, which its requests share: at most one per counter and second, whichever counters they combine.
 *
 *     none or a second old ──▶ being read ──▶ known, or failed ──▶ a second after the read began
 *
 * Requests that come while a counter is being read wait for this read. A total is remembered for as long as a cache keeps an
 * answer at least, a second. So an answer that replaces a cached one was read later than that, also by another instance, and a
 * cache never goes back.
 */
import { withTimeout } from "../../../../firestore/src/index.ts";
import { logError } from "../../counter/log.ts";
import type { Millis } from "../../counter/time.ts";
import { Lru } from "../../shared/lru.ts";
import { beginAfterReads, createAddressLimit } from "../../shared/rateLimit.ts";
import { tooMany } from "../../shared/refusal.ts";

/** The least time between two reads of a counter, failed ones included. */
const MEMORY: Millis = 1_000;

/** A read that takes longer has failed. */
const READ_TIMEOUT: Millis = 5_000;

/** How many counters with totals are remembered, those asked for last: some 10 MB at most, as an id has up to 1,500 bytes. */
export const MAX_COUNTERS = 10_000;

/** How many counters without totals are remembered. Made-up ids evict each other only. */
const MAX_MISSING = 2_000;

/**
 * How many counters may be read that turn out to have no total: for an address, and in all. A group has any number of ids, so that a
 * few requests a second could ask for thousands of made-up ones, at a read each.
 */
export const MISSING_PER_ADDRESS = { perSecond: 100, burst: 200 };
export const MISSING_PER_INSTANCE = { perSecond: 500, burst: 2_000 };

/** So long a counter is taken to have no total at most, after it was found to have none again and again. */
const MAX_MISSING_MEMORY: Millis = 10_000;

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
  /** How long it is remembered. */
  memory: Millis;
}

/** Reads counters at once. Those without a published total are left out. */
export type ReadTotals = (ids: readonly string[]) => Promise<ReadonlyMap<string, Reading>>;

/**
 * @param now  a monotonic clock
 * @returns    reads what is not known for a request of an address: one answer for each id, `undefined` without a published
 *             total. It rejects if a read has failed, or with a `Refusal` 429
 */
export function createSharedReads(
  read: ReadTotals,
  now: () => Millis,
): (ids: readonly string[], address: string) => Promise<(Reading | undefined)[]> {
  const known = new Lru<string, Entry>(MAX_COUNTERS);
  const missing = new Lru<string, Entry>(MAX_MISSING);
  const entryOf = (id: string) => known.get(id) ?? missing.get(id);
  const limit = createAddressLimit(MISSING_PER_ADDRESS, MISSING_PER_INSTANCE);
  const reads = new Set<Promise<unknown>>();

  return async (ids, address) => {
    const asked = await entriesFor(ids, address);
    await Promise.all(asked.map((entry) => entry.reading));
    // Not what was read first: while another of the counters was being read, a request may have been given a newer total.
    return ids.map((id, n) => {
      const entry = entryOf(id);
      return (entry?.isKnown ? entry : asked[n])?.latest;
    });
  };

  function isDue(entry: Entry | undefined): boolean {
    return !entry || (entry.isSettled && now() - entry.startedAt >= entry.memory);
  }

  /** Reads what is due, and charges for all that are not known to have a total. */
  async function entriesFor(ids: readonly string[], address: string): Promise<readonly Entry[]> {
    let entries: readonly Entry[] = [];
    const begin = () => {
      const due = ids.filter((id) => isDue(entryOf(id)));
      const unknown = due.filter((id) => entryOf(id)?.latest === undefined);
      const wait = unknown.length > 0 ? limit(address, unknown.length, now()) : 0;
      if (wait > 0) return wait;
      const started = due.length > 0 ? startReading(due, unknown, address) : undefined;
      // At once, because others may be forgotten for those that the next request asks for.
      entries = ids.map((id) => started?.get(id) ?? (entryOf(id) as Entry));
      return 0;
    };
    const wait = await beginAfterReads(begin, () => reads);
    if (wait > 0) throw tooMany("too many counters without a total are asked for", wait);
    return entries;
  }

  /** Gives back what has a total. */
  function startReading(
    ids: readonly string[],
    unknown: readonly string[],
    address: string,
  ): ReadonlyMap<string, Entry> {
    const startedAt = now();
    const answer = withTimeout(READ_TIMEOUT, read(ids)).finally(() => reads.delete(answer));
    reads.add(answer);
    answer.then(
      (readings) => giveBack(unknown.filter((id) => readings.has(id))),
      (error) => {
        giveBack(unknown);
        logError("could not read totals; their readers were told so", { counters: ids, error });
      },
    );
    function giveBack(found: readonly string[]): void {
      if (found.length > 0) limit(address, -found.length, now());
    }
    const started = new Map<string, Entry>();
    for (const id of ids) {
      const { latest, isKnown = false, memory = MEMORY / 2 } = entryOf(id) ?? {};
      const store = (readings: ReadonlyMap<string, Reading>) => {
        entry.latest = later(entry.latest, readings.get(id));
        entry.isKnown = true;
        entry.memory = entry.latest ? MEMORY : Math.min(2 * memory, MAX_MISSING_MEMORY);
        // A counter that was forgotten may have been asked for again.
        if ((entryOf(id) ?? entry) === entry) remember(id, entry);
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
        memory: MEMORY,
      };
      remember(id, entry);
      started.set(id, entry);
    }
    return started;
  }

  function remember(id: string, entry: Entry): void {
    const [place, other] = entry.latest ? [known, missing] : [missing, known];
    other.delete(id);
    place.set(id, entry);
  }
}

/** The emulator's snapshots may lag behind. `undefined` for a counter that was deleted. */
function later(before: Reading | undefined, read: Reading | undefined): Reading | undefined {
  return before && read && read.asOf < before.asOf ? before : read;
}

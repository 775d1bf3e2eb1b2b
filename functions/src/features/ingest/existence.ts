/**
 * Whether the counters of a batch may be counted: those of a listed group must exist, and those that an expression admits may be made, at a
 * limited rate. Counters that are listed by their ids are not asked for.
 *
 *     unknown ──read──▶ exists: known for ten minutes; each read of its shard count prolongs that
 *                  └──▶ missing: for ten seconds
 *
 * Reads of made-up ids cost as much as others, so each address, and all together, may only cause so many.
 */
import { withTimeout } from "../../../../firestore/src/index.ts";
import type { Millis } from "../../counter/time.ts";
import { admissionOf, type CounterList } from "../../shared/counterList.ts";
import { Lru } from "../../shared/lru.ts";
import { beginAfterReads, createAddressLimit } from "../../shared/rateLimit.ts";
import { tooMany } from "../../shared/refusal.ts";
import { type Event, InvalidBatch, type ParsedBatch, skippedEvent } from "./events.ts";

/** So long a counter stays missing. */
const MISSING_FOR: Millis = 10_000;

/** How many missing counters an instance remembers. An id has up to 1,500 bytes. */
const MAX_MISSING = 5_000;

/** A read that takes longer has failed. */
const READ_TIMEOUT: Millis = 5_000;

/** How many counters that turn out to be missing may be asked for: by an address, and in all. */
export const MISSING_PER_ADDRESS = { perSecond: 20, burst: 200 };
export const MISSING_PER_INSTANCE = { perSecond: 100, burst: 500 };

/** How many counters an address makes, and an instance in all. A batch with more than the burst waits for a full one, and leaves a debt. */
const NEW_PER_ADDRESS = { perSecond: 1, burst: 20 };
const NEW_PER_INSTANCE = { perSecond: 5, burst: 50 };

/** What an instance knows of counters. */
export interface KnownCounters {
  /** Whether the counter was found in the last ten minutes. */
  readonly isKnown: (id: string) => boolean;
  /** Reads counters, and remembers those that exist. */
  readonly read: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Remembers a counter that is about to be made as one that exists. */
  readonly remember: (id: string) => void;
}

/**
 * @param now  a monotonic clock
 * @returns    the batch, without the events of missing counters. It rejects with `InvalidBatch` 403 unless these may be skipped, with a
 *             `Refusal` 429, or if a read fails. What may pass later is refused as a whole, never skipped: a batch that is sent again
 *             must mean the same
 */
export function createAdmission({ isKnown, read, remember }: KnownCounters, list: CounterList, now: () => Millis) {
  const missing = new Lru<string, Millis>(MAX_MISSING);
  const pending = new Map<string, Promise<ReadonlySet<string>>>();
  const limitReads = createAddressLimit(MISSING_PER_ADDRESS, MISSING_PER_INSTANCE);
  const limitNew = createAddressLimit(NEW_PER_ADDRESS, NEW_PER_INSTANCE);

  return async (batch: ParsedBatch, address: string): Promise<ParsedBatch> => {
    const counters = new Set(batch.events.map(({ counter }) => counter));
    const unknown = [...counters].filter((id) => admissionOf(list, id) !== "id" && !isKnown(id));
    if (unknown.length === 0) return batch;
    const existing = await findExisting(unknown, address);
    const absent = unknown.filter((id) => !existing.has(id));
    const refused = new Set(absent.filter((id) => admissionOf(list, id) === "group"));
    const admitted = withoutMissing(batch, refused);
    // Another request may have made one meanwhile.
    makeAll(
      absent.filter((id) => !refused.has(id) && !isKnown(id)),
      address,
    );
    return admitted;
  };

  async function findExisting(ids: readonly string[], address: string): Promise<ReadonlySet<string>> {
    const isMissing = (id: string) => (missing.get(id) ?? Number.NEGATIVE_INFINITY) > now();
    let asked = ids;
    let reading: readonly (Promise<ReadonlySet<string>> | undefined)[] = [];
    const begin = () => {
      asked = asked.filter((id) => !isMissing(id));
      const due = asked.filter((id) => !pending.has(id) && !isKnown(id));
      const wait = due.length > 0 ? limitReads(address, due.length, now()) : 0;
      if (wait === 0 && due.length > 0) startReading(due, address);
      reading = asked.map((id) => pending.get(id));
      return wait;
    };
    const wait = await beginAfterReads(begin, () => pending.values());
    if (wait > 0) throw tooMany("too many counters are asked for that do not exist", wait);
    const found = await Promise.all(reading);
    return new Set(asked.filter((id, index) => found[index]?.has(id) || isKnown(id)));
  }

  /** They are charged for. What exists is given back. */
  function startReading(ids: readonly string[], address: string): void {
    const reading = withTimeout(READ_TIMEOUT, read(ids)).finally(() => {
      for (const id of ids) pending.delete(id);
    });
    for (const id of ids) pending.set(id, reading);
    reading.then(
      (existing) => {
        const absent = ids.filter((id) => !existing.has(id));
        for (const id of absent) missing.set(id, now() + MISSING_FOR);
        limitReads(address, absent.length - ids.length, now());
      },
      () => limitReads(address, -ids.length, now()),
    );
  }

  function makeAll(ids: readonly string[], address: string): void {
    if (ids.length === 0) return;
    const wait = limitNew(address, ids.length, now());
    if (wait > 0) throw tooMany("too many new counters", wait);
    for (const id of ids) {
      missing.delete(id);
      remember(id);
    }
  }
}

function withoutMissing(batch: ParsedBatch, missing: ReadonlySet<string>): ParsedBatch {
  if (missing.size === 0) return batch;
  const isMissing = ({ counter }: Event) => missing.has(counter);
  const refusals = batch.events.filter(isMissing).map(({ index, counter }) => {
    const what = `events[${index}].counter: "${counter.slice(0, 60)}" does not exist`;
    const refusal = new InvalidBatch(`${what}; make it with ensureCounter, or list a pattern in INGEST_COUNTERS`, 403);
    if (!batch.skipped) throw refusal;
    return skippedEvent(index, refusal);
  });
  const skipped = [...(batch.skipped ?? []), ...refusals].sort((a, b) => a.index - b.index);
  return { ...batch, events: batch.events.filter((event) => !isMissing(event)), skipped };
}

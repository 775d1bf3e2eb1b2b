/**
 * Wakes the aggregation of a counter for an event: a shard was created, shard 0 or `base` was written, or a document of the
 * collection it counts was created or deleted. The event carries no value, only a commit time.
 *
 * An instance remembers the last outcome of each counter, which answers most events of a busy counter without any I/O. It
 * relies on nothing that can become untrue: writes that are counted stay so, and a scheduled measurement takes place.
 */

import { countedCollectionOf } from "../../core/src/index.ts";
import { aggregate, type Outcome } from "./aggregate.ts";
import type { Backend } from "./backend.ts";
import type { Millis } from "./config.ts";
import { missingCounter, readCounter } from "./counterDocument.ts";
import { decide } from "./decide.ts";
import type { Cause } from "./interval.ts";
import { TRIGGER_SHARDS } from "./shards.ts";

/** One write that a counter's total depends on. */
export interface Written {
  readonly counterId: string;
  /** The shard it changed; absent if it created or deleted a counted document. */
  readonly shardId?: string;
  /** Whether it created that shard. */
  readonly isNew?: boolean;
  /** The update time of the document, not the event's time, which may be rounded. After a deletion, `deletedBy`. */
  readonly committedAt: Millis;
}

/**
 * An instant that is not before a document's deletion. The event's own time may be cut (the emulator's is, to the second),
 * but the document was deleted before the event arrived. Too late an instant costs another measurement at worst.
 *
 * @param eventTime  RFC 3339
 */
export function deletedBy(eventTime: string, now: Millis): Millis {
  return Math.max(Date.parse(eventTime) + 1, now);
}

/** Counters an instance remembers. About 300 bytes each. */
const MEMORY_SIZE = 10_000;

/**
 * @returns the handler of one instance. It resolves when the write is counted or certain to be, and rejects when it
 *          must be tried again.
 */
export function createWake(backend: Backend): (event: Written) => Promise<void> {
  const { config, margin, now } = backend;
  const known = new Map<string, Outcome>();
  const underWay = new Map<string, Promise<void>>();

  return async function wake({ counterId, shardId, isNew, committedAt }) {
    const cause: Cause = { at: committedAt, isPoll: false, shardId, isNew };
    for (;;) {
      if (isAnswered(known.get(counterId), cause)) return;
      const other = underWay.get(counterId);
      if (!other) break;
      // Its own event reports whatever it comes to; this one looks again.
      await other.catch(() => undefined);
    }
    const handling = handle(counterId, cause).finally(() => underWay.delete(counterId));
    underWay.set(counterId, handling);
    await handling;
  };

  /** Whether the write is counted, or a measurement at or after it is scheduled, by what is known without any I/O. */
  function isAnswered(outcome: Outcome | undefined, cause: Cause): boolean {
    if (!outcome) return false;
    const { published, scheduled = 0 } = outcome;
    const step = decide(cause, { previous: published }, now(), margin, config);
    return step.do === "nothing" || (step.do === "schedule" && step.task.due <= scheduled);
  }

  async function handle(counterId: string, cause: Cause): Promise<void> {
    const ref = backend.counters.doc(counterId);
    const state = isFirst(counterId, cause) ? missingCounter(ref) : await readCounter(ref);
    const outcome = await aggregate(backend, state, cause);
    known.delete(counterId);
    known.set(counterId, outcome);
    if (known.size > MEMORY_SIZE) known.delete(known.keys().next().value as string);
  }

  /** Whether the write most likely began the counter: then the counter document is read only if creating it fails. */
  function isFirst(counterId: string, { isNew, shardId }: Cause): boolean {
    const isKnown = known.has(counterId) || countedCollectionOf(counterId, config.counted) !== undefined;
    return isNew === true && shardId === TRIGGER_SHARDS[0] && !isKnown;
  }
}

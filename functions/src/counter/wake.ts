/**
 * Wakes the aggregation of a counter for an event: a shard was created, shard 0 or `base` was written, or a document of the
 * counted collection was created or deleted. The event carries no value, only a commit time.
 *
 * An outcome that an instance remembers cannot become false: counted writes stay counted, deleted ones deleted, and a
 * scheduled measurement takes place.
 */
import { countedCollectionOf } from "../../../core/src/index.ts";
import { type AggregateResult, aggregate } from "./aggregate.ts";
import type { Backend } from "./backend.ts";
import { beginsCounter, type Cause, type WriteEvent } from "./cause.ts";
import { coalesce } from "./coalesce.ts";
import { missingCounter, readCounter } from "./counterDocument.ts";
import { isAnswered } from "./decide.ts";
import type { Millis } from "./time.ts";

/**
 * An upper bound of the time of a deletion. The event's own time may be truncated (the emulator's is, to the second), but the
 * document was deleted before the event arrived. Too late a bound costs at worst another measurement.
 */
export function latestDeletionTime(eventTime: string, now: Millis): Millis {
  return Math.max(Date.parse(eventTime) + 1, now);
}

/** Whether an update of a shard has counted. One that only removes expired marks has not. */
export function hasCounted(before: Shard, after: Shard): boolean {
  return ["count", "writes"].some((field) => before.get(field) !== after.get(field));
}

/** The part of a shard's snapshot that {@link hasCounted} reads. */
interface Shard {
  get(field: string): unknown;
}

/** The event handler of one instance. It resolves when the write is counted or certain to be; else it rejects, for a retry. */
export function createWakeHandler(backend: Backend): (event: WriteEvent) => Promise<void> {
  const { config, features, snapshotLag, now } = backend;
  return coalesce<WriteEvent, AggregateResult>({ keyOf: ({ counterId }) => counterId, isCovered, handle });

  /** Whether the last outcome shows that the write is counted, or that a measurement at or after it is scheduled. */
  function isCovered(outcome: AggregateResult, event: WriteEvent): boolean {
    const { missingAt = 0 } = outcome;
    const cause = causeOf(event);
    return cause.at <= missingAt - snapshotLag || isAnswered(cause, outcome, now(), snapshotLag, config);
  }

  async function handle(event: WriteEvent, last: AggregateResult | undefined): Promise<AggregateResult> {
    const ref = backend.counters.doc(event.counterId);
    const isAssumed = last === undefined && isFirstWrite(event);
    const outcome = await aggregate(
      backend,
      isAssumed ? missingCounter(ref, features) : await readCounter(ref, features),
      causeOf(event),
    );
    // Whether the counter was published is only known if its document was read.
    return isAssumed ? { ...outcome, missingAt: undefined } : outcome;
  }

  /** Whether the write most likely began the counter. Then the counter document is read only if creating it fails. */
  function isFirstWrite(event: WriteEvent): boolean {
    return beginsCounter(event) && countedCollectionOf(event.counterId, config.counted) === undefined;
  }
}

function causeOf({ shardId, isNew, committedAt }: WriteEvent): Cause {
  return { at: committedAt, isPoll: false, shardId, isNew };
}

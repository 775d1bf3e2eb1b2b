/**
 * Wakes the aggregation of a counter for an event: a shard was created, shard 0 or `base` was written, or a document of the
 * counted collection was created or deleted. The event carries no value, only a commit time.
 *
 * An instance remembers the last outcome of each counter, which answers most events of a busy counter without any I/O. The
 * outcome cannot become false: counted writes stay counted, deleted ones deleted, and a scheduled measurement takes place.
 */
import { countedCollectionOf } from "../../core/src/index.ts";
import { aggregate, type Outcome } from "./aggregate.ts";
import type { Backend } from "./backend.ts";
import type { Cause, WriteEvent } from "./cause.ts";
import { missingCounter, readCounter } from "./counterDocument.ts";
import { decide } from "./decide.ts";
import { TRIGGER_SHARDS } from "./shards.ts";
import type { Millis } from "./time.ts";

/**
 * An upper bound of the time of a deletion. The event's own time may be truncated (the emulator's is, to the second), but the
 * document was deleted before the event arrived. Too late a bound costs at worst another measurement.
 */
export function latestDeletionTime(eventTime: string, now: Millis): Millis {
  return Math.max(Date.parse(eventTime) + 1, now);
}

/** How many counters an instance remembers, at about 300 bytes each. */
const MEMORY_SIZE = 10_000;

/** The event handler of one instance. It resolves when the write is counted or certain to be; else it rejects, for a retry. */
export function createWakeHandler(backend: Backend): (event: WriteEvent) => Promise<void> {
  const { config, snapshotLag, now } = backend;
  const outcomes = new Map<string, Outcome>();
  const inProgress = new Map<string, Promise<void>>();

  return async function wake({ counterId, shardId, isNew, committedAt }) {
    const cause: Cause = { at: committedAt, isPoll: false, shardId, isNew };
    for (;;) {
      if (isAnswered(outcomes.get(counterId), cause)) return;
      const other = inProgress.get(counterId);
      if (!other) break;
      // The other event reports its own failure. This one checks again.
      await other.catch(() => undefined);
    }
    const handling = handle(counterId, cause).finally(() => inProgress.delete(counterId));
    inProgress.set(counterId, handling);
    await handling;
  };

  /** Whether the last outcome shows that the write is counted, or that a measurement at or after it is scheduled. */
  function isAnswered(outcome: Outcome | undefined, cause: Cause): boolean {
    if (!outcome) return false;
    const { published, scheduled = 0, missingAt = 0 } = outcome;
    if (cause.at <= missingAt - snapshotLag) return true;
    const step = decide(cause, { previous: published }, now(), snapshotLag, config);
    return step.do === "nothing" || (step.do === "schedule" && step.task.due <= scheduled);
  }

  async function handle(counterId: string, cause: Cause): Promise<void> {
    const ref = backend.counters.doc(counterId);
    const isAssumed = isFirstWrite(counterId, cause);
    const outcome = await aggregate(backend, isAssumed ? missingCounter(ref) : await readCounter(ref), cause);
    outcomes.delete(counterId);
    // Whether the counter was published is only known if its document was read.
    outcomes.set(counterId, isAssumed ? { ...outcome, missingAt: undefined } : outcome);
    if (outcomes.size > MEMORY_SIZE) outcomes.delete(outcomes.keys().next().value as string);
  }

  /** Whether the write most likely began the counter. Then the counter document is read only if creating it fails. */
  function isFirstWrite(counterId: string, { isNew, shardId }: Cause): boolean {
    const isKnown = outcomes.has(counterId) || countedCollectionOf(counterId, config.counted) !== undefined;
    return isNew === true && shardId === TRIGGER_SHARDS[0] && !isKnown;
  }
}

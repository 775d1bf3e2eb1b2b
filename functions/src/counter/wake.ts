/**
 * Wakes the aggregation of a counter for an event: a shard was created, shard 0 or `base` was written, or what a feature counts
 * instead has changed. The event carries no value, only a commit time.
 *
 * An outcome that an instance remembers cannot become false: counted writes stay counted, deleted ones deleted, and a
 * scheduled measurement takes place.
 */
import type { DocumentReference, DocumentSnapshot } from "firebase-admin/firestore";
import { type AggregateResult, aggregate } from "./aggregate.ts";
import { attempt } from "./attempts.ts";
import type { Backend } from "./backend.ts";
import type { Cause, WriteEvent } from "./cause.ts";
import { coalesce } from "./coalesce.ts";
import { readCounter } from "./counterDocument.ts";
import { isAnswered } from "./decide.ts";
import { toMillis } from "./time.ts";

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
    const { missingAt = 0, attemptAt = 0 } = outcome;
    const cause = causeOf(event);
    return (
      cause.at <= Math.max(missingAt - snapshotLag, attemptAt) || isAnswered(cause, outcome, now(), snapshotLag, config)
    );
  }

  async function handle(event: WriteEvent, last: AggregateResult | undefined): Promise<AggregateResult | undefined> {
    const { counterId, committedAt } = event;
    const followUp = { counterId, due: committedAt, kind: "followUp" } as const;
    const done = await attempt(backend, followUp, async () => {
      const state = await readCounter(backend.counters.doc(counterId), features);
      return aggregate(backend, state, causeOf(event));
    });
    return "result" in done ? done.result : { published: last?.published, attemptAt: done.nextAt };
  }
}

/** A write of a shard: what it was before, and what it is after. */
interface ShardWrite {
  readonly before: DocumentSnapshot | undefined;
  readonly after: DocumentSnapshot | undefined;
}

/** As {@link createWakeHandler}, for the writes of shards. A deletion wakes nothing: the fold has written the shard's count to `base`. */
export function createShardHandler(backend: Backend): (write: ShardWrite) => Promise<void> {
  const wake = createWakeHandler(backend);
  return async ({ before, after }) => {
    if (!after?.updateTime || (before && !hasCounted(before, after))) return;
    // Not from the event's parameters, which are decoded as if they were a URL's: an id may contain "%2F" or "é".
    const { id: shardId, parent: shards } = after.ref;
    const counterId = (shards.parent as DocumentReference).id;
    await wake({ counterId, shardId, isNew: before === undefined, committedAt: toMillis(after.updateTime) });
  };
}

function causeOf({ shardId, isNew, committedAt }: WriteEvent): Cause {
  return { at: committedAt, isPoll: false, shardId, isNew };
}

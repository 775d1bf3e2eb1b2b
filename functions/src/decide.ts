/**
 * What to do about a counter. Pure: the counter document, what has happened, what was measured and the time in; one step
 * out. `aggregate.ts` takes the steps, and asks again after each.
 *
 *        asOf                due = asOf + interval                      commit time of a write
 *   ──────┼───────────────────┼────────────────────────────────────────▶
 *    counted    schedule a measurement at `due`          measure now, publish
 *               busy: one is scheduled already
 *
 * A total is exact for an instant at or after `due`, so no counter is published more than once in its interval (I4). In
 * a polled phase the publish has scheduled the next measurement, before it was made (I2).
 */
import type { Config, Millis } from "./config.ts";
import { type Published, toMillis } from "./counterDocument.ts";
import { type Cause, dueOf } from "./interval.ts";
import { includes, type Measurement } from "./measure.ts";
import { type Before, nextPublished } from "./next.ts";
import { isQuiet } from "./phase.ts";
import type { AggregationTask } from "./queue.ts";
import { shardsBeyond } from "./shards.ts";

/** What is known when a step is decided. */
export interface Knowledge extends Before {
  /** What was measured after the counter document was read. */
  readonly measurement?: Measurement | undefined;
  /** Whether shards were folded before that. */
  readonly hasFolded?: boolean | undefined;
}

/** One step. */
export type Step =
  /** The writes are counted, or certain to be. */
  | { readonly do: "nothing" }
  | { readonly do: "schedule"; readonly task: Instant }
  | { readonly do: "measure" }
  /** The clock is ahead of the database's: then measure again. */
  | { readonly do: "wait"; readonly duration: Millis }
  /** Fold shards from `fromIndex` on that were not written after `quietSince`; then measure again. */
  | { readonly do: "fold"; readonly fromIndex: number; readonly quietSince: Millis }
  /** Schedule first, then publish. */
  | { readonly do: "publish"; readonly next: Published; readonly tasks: readonly Instant[] };

/** A task of the counter in question. */
export type Instant = Omit<AggregationTask, "counterId">;

/** A counter document from the future is damaged: no clock is as far ahead as this. */
const FUTURE: Millis = 5 * 60_000;

/** @param margin  how far the database's snapshots may lag behind its commits */
export function decide(cause: Cause, known: Knowledge, now: Millis, margin: Millis, config: Config): Step {
  const { measurement, reservation, hasFolded } = known;
  const previous = known.previous && known.previous.asOf > now + FUTURE ? undefined : known.previous;
  if (previous && isCovered(cause, previous, margin)) return { do: "nothing" };
  const due = previous ? dueOf(previous, config, cause) : 0;
  if (!measurement) {
    const yields = yieldUntil(cause, previous, config);
    if (now < yields) return { do: "schedule", task: { due: yields, isPoll: true } };
    return now < due
      ? { do: "schedule", task: { due: Math.max(due, cause.at), isPoll: cause.isPoll } }
      : { do: "measure" };
  }
  const asOf = toMillis(measurement.asOf);
  if (asOf < due) return { do: "wait", duration: due - asOf };

  const next = nextPublished(cause, { previous, reservation }, measurement, config);
  const fromIndex = previous && cause.isPoll && !hasFolded ? foldFrom(previous, next, measurement, config) : undefined;
  if (fromIndex !== undefined) return { do: "fold", fromIndex, quietSince: asOf - config.shrinkCooldown };

  const isCertain = cause.at <= asOf - margin || includes(measurement, cause.shardId, cause.at);
  const again = { due: Math.max(dueOf(next, config), cause.at), isPoll: false };
  // A counter with no shards and no publish stays unpublished.
  const isMissing = !previous && !measurement.counted && measurement.documents === 0;
  if (isMissing) return isCertain ? { do: "nothing" } : { do: "schedule", task: again };
  // An unchanged total is published, too: writes may cancel out while an instance that measured between them is about to
  // publish. Only this publish makes that one fail.
  const poll = next.nextPollAt === null ? [] : [{ due: next.nextPollAt, isPoll: true }];
  const isCoveredByPoll = next.phase === "busy" && next.nextPollAt !== null && next.nextPollAt >= cause.at;
  return { do: "publish", next, tasks: isCertain || isCoveredByPoll ? poll : [...poll, again] };
}

/** Whether the writes are counted, or certain to be by a poll that is scheduled. */
function isCovered({ at, isPoll }: Cause, { asOf, phase, nextPollAt }: Published, margin: Millis): boolean {
  // Only a later scheduled poll makes a poll obsolete; a publish does not.
  if (isPoll && nextPollAt !== null) return nextPollAt > at;
  // A write waits for the poll of a busy counter, which is soon, and for no other.
  return at <= asOf - margin || (phase === "busy" && nextPollAt !== null && nextPollAt >= at);
}

/**
 * The instant until which a poll gives way to an earlier scheduled one; 0 if there is none. Otherwise two chains of polls
 * would run side by side: both schedule their next poll before one of them fails to publish.
 */
function yieldUntil({ at, isPoll }: Cause, previous: Published | undefined, { minInterval }: Config): Millis {
  const nextPollAt = previous?.nextPollAt ?? at;
  return isPoll && nextPollAt < at ? nextPollAt + minInterval : 0;
}

/**
 * The index from which shards are folded now, if any; at most once in a cool-down, and by polls alone, so that one instance
 * does. A cooling counter folds all silent shards. Any other folds those beyond the shard count: writers no longer use them,
 * and each further 1,000 cost 2 reads.
 */
function foldFrom(previous: Published, next: Published, measurement: Measurement, config: Config): number | undefined {
  const since = isQuiet(next.phase) ? (next.calmSince ?? 0) : 0;
  const cooldowns = (at: Millis) => Math.floor(Math.max(at - since, 0) / config.shrinkCooldown);
  if (cooldowns(next.asOf) <= cooldowns(previous.asOf)) return undefined;
  if (next.phase === "cooling") return 1;
  return shardsBeyond(measurement, next.shardCount) > 0 ? next.shardCount : undefined;
}

/**
 * Decides the next step for a counter. Pure: it takes the counter document, the cause, the measurement and the time, and
 * returns one step. `aggregate.ts` takes the steps, and asks again after each.
 *
 *        asOf                due = asOf + interval         up to asOf: time of commits; after it: the time now
 *   ──────┼───────────────────┼────────────────────────────────────────▶
 *    counted    schedule a measurement at `due`          measure now, publish
 *               busy: one is scheduled already
 *
 * A total is exact for an instant at or after `due`, so no counter is published more than once in its interval (I4). In
 * a polled phase each publish schedules the next measurement before it is made (I2).
 */
import { type Cause, isSilentUpdate, type ScheduledTask } from "./cause.ts";
import { nextPublishDue } from "./interval.ts";
import { includesWrite, type Measurement } from "./measurement.ts";
import { planPublish } from "./nextPublished.ts";
import { type Millis, toMillis } from "./time.ts";
import type { CounterConfig, KnownState, Published } from "./types.ts";
import { firstUnused, isFoldingPoll, timeToFold } from "./unusedShards.ts";

export type Step =
  /** The writes are counted, or certain to be. */
  | { readonly do: "nothing" }
  | { readonly do: "schedule"; readonly task: ScheduledTask }
  | { readonly do: "measure" }
  /** The poll at `nextPollAt` is not published yet: sleep, then read the counter document again. */
  | { readonly do: "reread"; readonly duration: Millis }
  /** The database's clock or its snapshot is behind: wait, then measure again. */
  | { readonly do: "wait"; readonly duration: Millis }
  /**
   * Fold shards from `fromIndex` on that were not written after `quietSince`; then measure again. `onlyEmpty`: leave shards
   * whose count is above 0.
   */
  | { readonly do: "fold"; readonly fromIndex: number; readonly quietSince: Millis; readonly onlyEmpty: boolean }
  /** Let a feature do what it has planned before a publish; then measure again. */
  | { readonly do: "prepare"; readonly feature: string; readonly work: unknown }
  /** Schedule first, then publish. */
  | { readonly do: "publish"; readonly next: Published; readonly tasks: readonly ScheduledTask[] };

/** No clock is as far ahead as this: a counter document from such a future is damaged. */
const MAX_CLOCK_SKEW: Millis = 5 * 60_000;

/** @param snapshotLag  how far the database's snapshots may lag behind its commits */
export function decide(cause: Cause, known: KnownState, now: Millis, snapshotLag: Millis, config: CounterConfig): Step {
  const { measurement } = known;
  const isDamaged = known.previous !== undefined && known.previous.asOf > now + MAX_CLOCK_SKEW;
  const previous = isDamaged ? undefined : known.previous;
  if (previous && isCountedOrPolled(cause, previous, snapshotLag)) return { do: "nothing" };
  if (!measurement) return decideUnmeasured(cause, { ...known, previous }, now, config);
  // What a damaged document had counted is not known, so no window counts any of this total: `adjusted` cancels it.
  const adjusted = isDamaged ? measurement.total : known.adjusted;
  return decideMeasured(cause, { ...known, previous, adjusted, measurement }, snapshotLag, config);
}

/**
 * Whether a write needs no look at the counter document.
 *
 * @param known  the last outcome that an instance remembers: what was published, and the latest measurement that is scheduled
 */
export function isAnswered(
  cause: Cause,
  { published, scheduled = 0 }: { readonly published?: Published | undefined; readonly scheduled?: Millis | undefined },
  now: Millis,
  snapshotLag: Millis,
  config: CounterConfig,
): boolean {
  const step = decide(cause, { previous: published }, now, snapshotLag, config);
  return step.do === "nothing" || (step.do === "schedule" && step.task.due <= scheduled);
}

/** Whether a measurement is due, or when it is. */
function decideUnmeasured(cause: Cause, known: KnownState, now: Millis, config: CounterConfig): Step {
  const due = dueAfter(known.previous, config, cause);
  if (now < due)
    return { do: "schedule", task: { due: Math.max(due, cause.at), kind: cause.isPoll ? "poll" : "followUp" } };
  const duration = waitForPublish(cause, known, now, config);
  return duration > 0 ? { do: "reread", duration } : { do: "measure" };
}

/** When the next publish is due; at once if there is none yet. */
function dueAfter(previous: Published | undefined, config: CounterConfig, cause: Cause): Millis {
  return previous ? nextPublishDue(previous, config, cause) : 0;
}

type Measured = KnownState & { readonly measurement: Measurement };

/** What to do with a measurement: publish it, unless something else comes first. */
function decideMeasured(cause: Cause, known: Measured, snapshotLag: Millis, config: CounterConfig): Step {
  const { measurement, previous, folded, isPrepared } = known;
  const due = dueAfter(previous, config, cause);
  const asOf = toMillis(measurement.asOf);
  if (asOf < due) return { do: "wait", duration: due - asOf };

  const planned = planPublish(cause, known, measurement, config);
  const { next } = planned;
  // One feature prepares at most, and once: its work has changed what the others have planned.
  for (const feature of isPrepared ? [] : config.plans) {
    const work = feature.prepare?.(planned);
    if (work !== undefined) return { do: "prepare", feature: feature.name, work };
  }
  if (isFoldingPoll(cause, previous) && !folded && timeToFold(next, config) <= 0) {
    const { settings } = planned;
    // If there are too many to be listed, no feature can empty them.
    const onlyEmpty = settings.foldsOnlyEmpty && measurement.shards !== undefined;
    return { do: "fold", fromIndex: firstUnused(next, settings), quietSince: asOf - config.shrinkCooldown, onlyEmpty };
  }

  // Asked last, because a fold or a preparation measures again.
  const isIncluded = cause.at <= asOf - snapshotLag || includesWrite(measurement, cause.shardId, cause.at);
  // By a clock that is ahead of the database's, a task comes too early. Another task would, too.
  if (!isIncluded) return { do: "wait", duration: cause.at + snapshotLag - asOf };
  // A counter with no shards and no publish stays unpublished.
  if (!previous && !measurement.collectionCount && measurement.documents === 0) return { do: "nothing" };
  const tasks = config.plans.flatMap((feature) => feature.tasks?.(previous, next) ?? []);
  if (next.nextPollAt !== null) tasks.push({ due: next.nextPollAt, kind: "poll" });
  // An unchanged total is published, too: if writes cancel out, an instance that measured between them may be about to
  // publish. Only this publish makes its precondition fail.
  return { do: "publish", next, tasks };
}

/** Whether the writes are counted, or certain to be by a scheduled poll. */
function isCountedOrPolled(cause: Cause, { asOf, phase, nextPollAt }: Published, snapshotLag: Millis): boolean {
  const { at, isPoll } = cause;
  // While a poll is scheduled, only a later one makes a poll obsolete; a publish does not.
  if (isPoll && nextPollAt !== null) return nextPollAt > at;
  // A write waits for the poll of a busy counter, which is soon. For another poll only the update of a silent shard waits: such polls are
  // made for these updates.
  const maySuffice = phase === "busy" || isSilentUpdate(cause);
  return at <= asOf - snapshotLag || (maySuffice && nextPollAt !== null && nextPollAt >= at);
}

/** A commit ends after this time. */
const LONGEST_WAIT: Millis = 10_000;

/**
 * How long to sleep before the counter document is read again; 0 or less if this cause may measure.
 *
 * The poll at `nextPollAt` measures at once. A later poll waits for the publish of that one, so a counter has one chain of polls, however
 * long a commit takes. If the publish does not come, as after a crash, the later poll measures when a commit must have ended. A write
 * after `nextPollAt` waits twice as long as the last publish took, but no longer. If it then measures, its publish replaces `nextPollAt`,
 * and makes earlier polls obsolete.
 *
 * @param known  without `updatedAt`, as an instance remembers it, a write does not wait
 */
function waitForPublish(
  { at, isPoll, isRetry }: Cause,
  { previous, updatedAt = 0 }: KnownState,
  now: Millis,
  { minInterval }: CounterConfig,
): Millis {
  if (!previous || isRetry || (previous.nextPollAt ?? at) >= at) return 0;
  const longest = isPoll ? LONGEST_WAIT : Math.min(2 * (updatedAt - previous.asOf), LONGEST_WAIT);
  return Math.min(at + longest - now, minInterval);
}

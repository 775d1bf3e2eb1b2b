/**
 * One aggregation: measure, fold what need not stay, decide, publish; again if somebody else published meanwhile.
 *
 * It keeps every promise on which others rely: a follow-up is scheduled *before* the publish that promises it, so a
 * crash at any point leaves at worst one aggregation too many.
 */
import { logger } from "firebase-functions";
import { SHARDS } from "../../core/src/index.ts";
import type { Backend } from "./backend.ts";
import type { Millis } from "./config.ts";
import { type Published, type Seen, see, toMillis } from "./counter.ts";
import { type Wanted, wakes } from "./demand.ts";
import { fold, foldable } from "./fold.ts";
import { keptBy } from "./history.ts";
import { logError } from "./log.ts";
import { includes, type MeasuredShard, type Measurement } from "./measure.ts";
import { mirrorOf } from "./mirror.ts";
import { isPolled, nextPoll, type Outlook, outlookOf } from "./outlook.ts";
import { isNews, nextPublished, publish } from "./publish.ts";
import type { AggregationTask } from "./queue.ts";
import { measureCounter } from "./recount.ts";

export interface Aggregation {
  /** What is known of the counter now. */
  readonly outlook: Outlook;
  /** The counter as it now is. */
  readonly counter: Published;
}

/**
 * Brings a counter up to date with the wanted write, now or, if it is too early for the next publish, by schedule.
 *
 * Cost: 1 measurement and 1 publish; 1 task operation if the counter is polled; what a fold costs, and then a measurement
 * more; nothing if there is nothing to do.
 *
 * @param seen      the counter document, just read
 * @param measured  a measurement that was taken together with that read, if there is one
 */
export async function aggregate(
  backend: Backend,
  seen: Seen,
  wanted: Wanted,
  measured?: Measurement,
): Promise<Aggregation> {
  const { config, firestore, margin, now, schedule, sleep } = backend;
  const counterId = seen.ref.id;
  let measurement = measured;
  for (let current = seen; ; current = await see(current.ref), measurement = undefined) {
    const previous = current.published;
    const before = previous && outlookOf(previous, margin, config);
    if (previous && before && wanted.committedAt <= previous.asOf - margin)
      return { outlook: before, counter: previous };
    if (previous && before && now() < before.due) return await putOff(previous, before.due);

    measurement ??= await measureCounter(backend, current.ref);
    // Older than what the counter document shows, it must not be published over it. Nor, where a collection is counted,
    // if it may lack what the last publish wrote to `base`.
    const lag = measurement.recount ? margin : 0;
    if (current.updateTime && toMillis(measurement.asOf) - lag < toMillis(current.updateTime)) {
      await sleep(lag);
      continue;
    }
    if (before && toMillis(measurement.asOf) < before.due) {
      // Our clock is ahead of the database's. Not put off: a task cannot schedule itself again.
      await sleep(before.due - toMillis(measurement.asOf));
      continue;
    }
    const certain =
      wanted.committedAt <= toMillis(measurement.asOf) - margin ||
      (wanted.shardId !== undefined && includes(measurement, wanted.shardId, wanted.committedAt));
    const wokenAt = wakes(previous, wanted, now(), config) ? wanted.committedAt : undefined;
    // Of a counter that was never published, nobody knows yet whether its shards are in use.
    const surplus = previous ? foldable(measurement, nextPublished(previous, measurement, config), config) : [];
    if (surplus.length > 0 && (await foldAway(surplus)) > 0) measurement = await measureCounter(backend, current.ref);

    const next = nextPublished(previous, measurement, config, wokenAt);
    const after = outlookOf(next, margin, config);
    const news = isNews(previous, next, measurement);
    if (!certain || isPolled(next, config) || (previous && isPolled(previous, config))) {
      const due = previous && certain && !news ? nextPoll(previous, next.asOf, config) : after.due;
      await schedule({ counterId, due: Math.max(due, wanted.committedAt) });
    }
    if (!news) return { outlook: { due: before?.due ?? after.due, coveredUntil: next.asOf - margin }, counter: next };
    const mirror = next.total === previous?.total ? undefined : mirrorOf(counterId, config.mirrors);
    if (await publish(current, next, measurement, mirror, keptBy(previous, next, config))) {
      report(counterId, previous, next);
      return { outlook: after, counter: next };
    }
  }

  async function foldAway(surplus: readonly MeasuredShard[]): Promise<number> {
    const folded = await fold(firestore, seen.ref.collection(SHARDS), surplus);
    if (folded > 0) logger.info("folded", { counter: counterId, shards: folded });
    return folded;
  }

  async function putOff(counter: Published, due: Millis): Promise<Aggregation> {
    const promised = Math.max(due, wanted.committedAt);
    await schedule({ counterId, due: promised });
    return { outlook: { due, coveredUntil: promised }, counter };
  }
}

/** Runs a task: waits until it is due, since clocks differ, then keeps its promise. */
export async function runTask(backend: Backend, { counterId, due }: AggregationTask): Promise<void> {
  await backend.sleep(due + backend.margin - backend.now());
  await aggregate(backend, await see(backend.counters.doc(counterId)), { committedAt: due });
}

/** One line for each scale and each newly malformed shard; none per publish. */
function report(counterId: string, previous: Published | undefined, next: Published): void {
  const shards = previous?.shardCount ?? next.shardCount;
  if (next.shardCount !== shards) {
    logger.info("scaled", { counter: counterId, from: shards, to: next.shardCount, writesPerSecond: next.rate });
  }
  const malformed = next.malformed.filter((id) => !previous?.malformed.includes(id));
  if (malformed.length > 0) {
    logError("left malformed shards out of the total: correct or delete those whose count is not a finite number", {
      counter: counterId,
      shards: malformed,
    });
  }
}

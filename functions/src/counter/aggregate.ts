/**
 * Brings a counter up to date: reads it, asks `decide` for a step, takes the step, and so on until nothing is left to do. All
 * tasks that a publish relies on are scheduled *before* it, so a crash at any point costs at worst one measurement too many.
 */
import { logger } from "firebase-functions/logger";
import { SHARDS } from "../../../core/src/index.ts";
import type { Backend } from "./backend.ts";
import type { Cause, CounterTask } from "./cause.ts";
import { cleanMarks } from "./cleanMarks.ts";
import { readCounter } from "./counterDocument.ts";
import { decide } from "./decide.ts";
import { fold } from "./fold.ts";
import { logError } from "./log.ts";
import { CLEANING, shardsToClean } from "./markCleaning.ts";
import { measureCounter } from "./measure.ts";
import type { Measurement } from "./measurement.ts";
import { publish } from "./publish.ts";
import { type Millis, toMillis } from "./time.ts";
import type { CounterState, KnownState, Published, PublishHooks } from "./types.ts";

/** What an aggregation leaves behind. */
export interface AggregateResult {
  /** The last publish; `undefined` if there is none. */
  readonly published: Published | undefined;
  /** When another measurement is certain to take place, if one was scheduled. */
  readonly scheduled?: Millis;
  /** Of a counter that was never published: when it was seen without shards. Earlier writes were deleted, so they count as counted. */
  readonly missingAt?: Millis | undefined;
  /** When the next attempt is due, after a failure. It counts all writes up to then. */
  readonly attemptAt?: Millis | undefined;
}

/**
 * Counts all writes up to `cause.at`: now, or by a task if the next publish is not due.
 *
 * Cost: nothing if they are counted already; 1 task operation if scheduled; else 1 measurement and 1 publish, and 1 task
 * operation if the counter is polled. A fold, or the preparation of a feature, adds its cost and 1 measurement; tasks of features add 1
 * task operation each.
 *
 * @param state  the counter document, just read
 */
export async function aggregate(backend: Backend, state: CounterState, cause: Cause): Promise<AggregateResult> {
  const { config, features, snapshotLag, now, schedule, sleep } = backend;
  const counterId = state.ref.id;
  let current = state;
  let measurement: Measurement | undefined;
  let folded: KnownState["folded"];
  let isPrepared = false;
  for (;;) {
    const { published: previous, ...stored } = current;
    const updatedAt = current.updateTime && toMillis(current.updateTime);
    const known = { ...stored, previous, updatedAt, measurement, folded, isPrepared };
    const step = decide(cause, known, now(), snapshotLag, config);
    switch (step.do) {
      case "nothing":
        // The instance that made the last publish may have died before it scheduled the tasks that features need after it.
        if (updatedAt !== undefined) await scheduleMissedTasks(backend, current, updatedAt);
        return { published: previous, missingAt: previous || !measurement ? undefined : toMillis(measurement.asOf) };
      case "schedule":
        await schedule({ counterId, ...step.task });
        return { published: previous, scheduled: step.task.due };
      case "reread":
        await sleep(step.duration);
        current = await readCounter(current.ref, features);
        break;
      case "wait":
        await sleep(step.duration);
        measurement = await measureCounter(backend, current);
        break;
      case "measure":
        measurement = await measureCounter(backend, current);
        break;
      case "fold": {
        const shards = current.ref.collection(SHARDS);
        try {
          const result = await fold(shards, step.fromIndex, step.quietSince, step.onlyEmpty);
          if (result.folded > 0) logger.info("folded", { counter: counterId, shards: result.folded });
          folded = result;
        } catch (error) {
          if (!cause.isRetry) throw error;
          logError("could not fold shards; the total is published all the same", { counter: counterId, error });
          // The next fold is one cool-down later, as if all had been written.
          folded = { lastWritten: measurement && toMillis(measurement.asOf) };
        }
        measurement = await measureCounter(backend, current);
        break;
      }
      case "prepare": {
        const shards = current.ref.collection(SHARDS);
        try {
          await features.find(({ name }) => name === step.feature)?.carryOut?.(shards, step.work);
        } catch (error) {
          if (!cause.isRetry) throw error;
          const { feature } = step;
          logError("could not prepare a publish; it is made all the same", { counter: counterId, feature, error });
        }
        isPrepared = true;
        measurement = await measureCounter(backend, current);
        break;
      }
      case "publish": {
        for (const task of step.tasks) await schedule({ counterId, ...task });
        const committedAt =
          measurement && (await publish(backend, current, step.next, measurement.asOf, cause.isRetry));
        if (committedAt) {
          logChanges(counterId, previous, step.next);
          const { writes, shardCount, collectionCount } = step.next;
          await scheduleMissedTasks(backend, { ...current, published: step.next }, toMillis(committedAt));
          if (!collectionCount) {
            const cleaning = CLEANING[config.edition];
            const shards = shardsToClean(cleaning, previous?.writes ?? writes, writes, shardCount, Math.random);
            await cleanMarks(current.ref.collection(SHARDS), shards, cleaning);
          }
          return { published: step.next };
        }
        const before = current;
        current = await readCounter(current.ref, features);
        // If a client or another region has written the document, the measurement still holds.
        if (!isMeasurementValid(before, current, features)) measurement = undefined;
      }
    }
  }
}

/** Cost: 1 task operation for each task of a feature that may be missing. */
async function scheduleMissedTasks(
  { features, schedule }: Backend,
  { ref, published }: CounterState,
  updatedAt: Millis,
): Promise<void> {
  const missed = published ? features.flatMap((feature) => feature.missedTasks?.(published, updatedAt) ?? []) : [];
  for (const task of missed) await schedule({ counterId: ref.id, ...task });
}

/** Runs a task: waits until it is due by this clock, then counts all writes up to then. */
export async function runAggregationTask(backend: Backend, task: CounterTask): Promise<void> {
  const { counterId, due, kind, failingSince } = task;
  await backend.sleep(due + backend.snapshotLag - backend.now());
  const state = await readCounter(backend.counters.doc(counterId), backend.features);
  await aggregate(backend, state, { at: due, isPoll: kind === "poll", isRetry: failingSince !== undefined });
}

/**
 * Whether a measurement made between the two reads is still valid: neither a publish nor a server has changed the document. Not if
 * either has `adjusted`: two corrections that cancel out may have been made, and the measurement may include only the first.
 */
function isMeasurementValid(before: CounterState, after: CounterState, features: readonly PublishHooks[]): boolean {
  const decisive = (state: CounterState) =>
    JSON.stringify([
      ...[{ ...state.published, total: undefined, directCount: undefined }, state.reservation],
      ...features.map((feature) => feature.measurementDependsOn?.(state)),
    ]);
  const isCorrected = before.adjusted !== undefined || after.adjusted !== undefined;
  return after.updateTime !== undefined && !isCorrected && decisive(before) === decisive(after);
}

/** Logs one line for each change of the shard count and for newly malformed shards; none per publish. */
function logChanges(counterId: string, previous: Published | undefined, next: Published): void {
  const shards = previous?.shardCount ?? next.shardCount;
  if (next.shardCount !== shards) {
    logger.info("scaled", { counter: counterId, from: shards, to: next.shardCount, writesPerSecond: next.rate });
  }
  const malformed = next.malformedShards.filter((id) => !previous?.malformedShards.includes(id));
  if (malformed.length > 0) {
    const message = "left malformed shards out of the total: set the count of each to a number, and delete none";
    logError(message, { counter: counterId, shards: malformed });
  }
}

/**
 * Brings a counter up to date: reads it, asks `decide` for a step, takes the step, and so on until nothing is left to do. All
 * tasks that a publish relies on are scheduled *before* it, so a crash at any point costs at worst one measurement too many.
 */
import { logger } from "firebase-functions";
import { SHARDS } from "../../../core/src/index.ts";
import type { Backend } from "./backend.ts";
import type { Cause, CounterTask } from "./cause.ts";
import { cleanMarks, shardsToLookAt } from "./cleanMarks.ts";
import { type CounterState, type Published, readCounter } from "./counterDocument.ts";
import { decide, exchangeTasks } from "./decide.ts";
import { fold } from "./fold.ts";
import { logError } from "./log.ts";
import { measureCounter } from "./measure.ts";
import type { Measurement } from "./measurement.ts";
import { publish } from "./publish.ts";
import { missedExchangeAt } from "../features/regions/schedule.ts";
import { type Millis, toMillis } from "./time.ts";
import { transferStock } from "../features/stock/transferStock.ts";

/** What an aggregation leaves behind. */
export interface AggregateResult {
  /** The last publish; `undefined` if there is none. */
  readonly published: Published | undefined;
  /** When another measurement is certain to take place, if one was scheduled. */
  readonly scheduled?: Millis;
  /** An instant at which a counter that was never published had no shards: all writes before it were deleted. */
  readonly missingAt?: Millis | undefined;
}

/**
 * Counts all writes up to `cause.at`: now, or by a task if the next publish is not due.
 *
 * Cost: nothing if they are counted already; 1 task operation if scheduled; else 1 measurement and 1 publish, and 1 task
 * operation if the counter is polled. A fold or transfer adds its cost and 1 measurement. With several regions, up to 1 task
 * operation more.
 *
 * @param state  the counter document, just read
 */
export async function aggregate(backend: Backend, state: CounterState, cause: Cause): Promise<AggregateResult> {
  const { config, snapshotLag, now, schedule, sleep } = backend;
  const counterId = state.ref.id;
  let current = state;
  let measurement: Measurement | undefined;
  let [hasFolded, hasTransferred] = [false, false];
  for (;;) {
    const { published: previous, reservation, adjusted, bounded } = current;
    const updatedAt = current.updateTime && toMillis(current.updateTime);
    const known = { previous, reservation, adjusted, bounded, updatedAt, measurement, hasFolded, hasTransferred };
    const step = decide(cause, known, now(), snapshotLag, config);
    switch (step.do) {
      case "nothing":
        // The instance that made the last publish may have died before it scheduled this exchange.
        if (updatedAt !== undefined) await scheduleMissedExchange(backend, current, updatedAt);
        return { published: previous, missingAt: previous || !measurement ? undefined : toMillis(measurement.asOf) };
      case "schedule":
        await schedule({ counterId, ...step.task });
        return { published: previous, scheduled: step.task.due };
      case "wait":
        await sleep(step.duration);
        measurement = await measureCounter(backend, current);
        break;
      case "measure":
        measurement = await measureCounter(backend, current);
        break;
      case "fold": {
        const { folded } = await fold(current.ref.collection(SHARDS), step.fromIndex, step.quietSince, step.keepsUnits);
        if (folded > 0) logger.info("folded", { counter: counterId, shards: folded });
        hasFolded = true;
        measurement = await measureCounter(backend, current);
        break;
      }
      case "transfer":
        await transferStock(current.ref.collection(SHARDS), step.transfers);
        hasTransferred = true;
        measurement = await measureCounter(backend, current);
        break;
      case "publish": {
        for (const task of step.tasks) await schedule({ counterId, ...task });
        const committedAt = measurement && (await publish(current, step.next, measurement.asOf, config));
        if (committedAt) {
          logChanges(counterId, previous, step.next);
          const { writes, shardCount, countedCollection } = step.next;
          await scheduleMissedExchange(backend, { ...current, published: step.next }, toMillis(committedAt));
          if (countedCollection === null) {
            const looks = shardsToLookAt(previous?.writes ?? writes, writes, shardCount, Math.random);
            await cleanMarks(current.ref.collection(SHARDS), looks);
          }
          return { published: step.next };
        }
        const before = current;
        current = await readCounter(current.ref);
        // If another region has written the document, the measurement still holds.
        if (!isMeasurementValid(before, current)) measurement = undefined;
      }
    }
  }
}

/** Cost: 1 task operation, if the exchange with other regions may have missed the last publish. */
async function scheduleMissedExchange(
  { schedule }: Backend,
  { ref, published }: CounterState,
  updatedAt: Millis,
): Promise<void> {
  const due = published && missedExchangeAt(published, updatedAt);
  for (const task of exchangeTasks(due)) await schedule({ counterId: ref.id, ...task });
}

/** Runs a task: waits until it is due by this clock, then counts all writes up to then. */
export async function runAggregationTask(backend: Backend, { counterId, due, isPoll }: CounterTask): Promise<void> {
  await backend.sleep(due + backend.snapshotLag - backend.now());
  await aggregate(backend, await readCounter(backend.counters.doc(counterId)), { at: due, isPoll });
}

/**
 * Whether a measurement made between the two reads is still valid: neither a publish nor a server has changed the document. Not if
 * either has `adjusted`: two corrections that cancel out may have been made, and the measurement may include only the first.
 */
function isMeasurementValid(before: CounterState, after: CounterState): boolean {
  const decisive = ({ published, reservation, bounded, mirrored, mirroredIn }: CounterState) =>
    JSON.stringify([published, reservation, bounded, mirrored, mirroredIn]);
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

/**
 * Brings a counter up to date: reads it, asks `decide` for a step, takes it, and so on until there is nothing to do.
 *
 * Whatever a publish relies on is scheduled *before* it, so a crash at any point leaves at worst one measurement too many.
 */
import { logger } from "firebase-functions";
import { SHARDS } from "../../core/src/index.ts";
import type { Backend } from "./backend.ts";
import { type CounterState, type Published, readCounter } from "./counterDocument.ts";
import { decide } from "./decide.ts";
import { fold } from "./fold.ts";
import type { Cause } from "./interval.ts";
import { logError } from "./log.ts";
import { type Measurement, measureCounter } from "./measure.ts";
import { publish } from "./publish.ts";
import type { AggregationTask } from "./queue.ts";

/** What is known of a counter when it was brought up to date. */
export interface Outcome {
  /** The counter as it is published; `undefined` if it never was. */
  readonly published: Published | undefined;
  /** When another measurement is certain to take place, if one was scheduled. */
  readonly scheduled?: number;
}

/**
 * Counts all writes up to `cause.at`: now, or by a task if the next publish is not due.
 *
 * Cost: nothing if they are counted already; 1 task operation if scheduled; else 1 measurement and 1 publish, and 1 task
 * operation if the counter is polled. A fold adds its cost and 1 measurement.
 *
 * @param state  the counter document, just read
 */
export async function aggregate(backend: Backend, state: CounterState, cause: Cause): Promise<Outcome> {
  const { config, margin, now, schedule, sleep } = backend;
  const counterId = state.ref.id;
  let current = state;
  let measurement: Measurement | undefined;
  let hasFolded = false;
  for (;;) {
    const { published: previous, reservation } = current;
    const step = decide(cause, { previous, reservation, measurement, hasFolded }, now(), margin, config);
    switch (step.do) {
      case "nothing":
        return { published: previous };
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
        const { folded } = await fold(current.ref.collection(SHARDS), step.fromIndex, step.quietSince);
        if (folded > 0) logger.info("folded", { counter: counterId, shards: folded });
        hasFolded = true;
        measurement = await measureCounter(backend, current);
        break;
      }
      case "publish":
        for (const task of step.tasks) await schedule({ counterId, ...task });
        if (measurement && (await publish(current, step.next, measurement.asOf, config))) {
          report(counterId, previous, step.next);
          return { published: step.next };
        }
        current = await readCounter(current.ref);
        measurement = undefined;
    }
  }
}

/** Runs a task: waits until it is due by this clock, then counts up to it. */
export async function runTask(backend: Backend, { counterId, due, isPoll }: AggregationTask): Promise<void> {
  await backend.sleep(due + backend.margin - backend.now());
  await aggregate(backend, await readCounter(backend.counters.doc(counterId)), { at: due, isPoll });
}

/** One line for each scale and each newly malformed shard; none per publish. */
function report(counterId: string, previous: Published | undefined, next: Published): void {
  const shards = previous?.shardCount ?? next.shardCount;
  if (next.shardCount !== shards) {
    logger.info("scaled", { counter: counterId, from: shards, to: next.shardCount, writesPerSecond: next.rate });
  }
  const malformed = next.malformedShards.filter((id) => !previous?.malformedShards.includes(id));
  if (malformed.length > 0) {
    logError("left malformed shards out of the total: correct or delete those whose count is not a finite number", {
      counter: counterId,
      shards: malformed,
    });
  }
}

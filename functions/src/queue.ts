/**
 * Puts off an aggregation until it is due.
 *
 * Cloud Tasks holds it, under a name made of the counter and the due time: however many instances ask, one task
 * exists. Where a deployment has no task queue (an extension in the emulator) a timer of this process does it.
 */
import { createHash } from "node:crypto";
import type { Functions } from "firebase-admin/functions";
import type { Millis } from "./config.ts";

/** What a task carries: the promise that by the time it is done, every write up to `due` is counted. */
export interface AggregationTask {
  readonly counterId: string;
  readonly due: Millis;
  /** Whether it is the next measurement of a polled counter, not one that a write has asked for. */
  readonly isPoll: boolean;
}

/** Resolves once the aggregation is certain to happen. */
export type Schedule = (task: AggregationTask) => Promise<void>;

/**
 * Schedules tasks with Cloud Tasks. Cost: 1 task operation, whether the task is new or not. Errors of Cloud Tasks are
 * passed on. No task is scheduled further ahead than `LONGEST_DELAY` of phase.ts.
 */
export function cloudTasks(functions: Functions, location: string): Schedule {
  const { FUNCTIONS_EMULATOR, FIREBASE_KIT_INSTANCE_ID: kit } = process.env;
  const at = `locations/${location}/functions`;
  // For a kit's own queue the Admin SDK wants the credentials of the machine, which an emulator need not have. Named in
  // full, the queue is nobody's own.
  const queue =
    FUNCTIONS_EMULATOR && kit
      ? functions.taskQueue<AggregationTask>(`${at}/kit-${kit}-aggregate`, { scope: "global" })
      : functions.taskQueue<AggregationTask>(`${at}/aggregate`);
  return async (task) => {
    try {
      await queue.enqueue(task, { id: taskName(task), scheduleTime: new Date(task.due), dispatchDeadlineSeconds: 60 });
    } catch (error) {
      if ((error as { code?: string }).code !== "functions/task-already-exists") throw error;
    }
  };
}

/**
 * Schedules tasks with timers of this process. None runs before it is due by `now`, although a timer may go off early by
 * that clock: `setTimeout` counts another one, in whole milliseconds.
 *
 * @param run  what a timer calls when the task is due; it must handle its own errors
 */
export function timers(run: (task: AggregationTask) => Promise<void>, now: () => Millis): Schedule {
  const waiting = new Set<string>();
  return async (task) => {
    const name = taskName(task);
    if (waiting.has(name)) return;
    waiting.add(name);
    const runOnceDue = () => {
      const left = task.due - now();
      if (left > 0) return void setTimeout(runOnceDue, Math.ceil(left));
      waiting.delete(name);
      void run(task);
    };
    setTimeout(runOnceDue, Math.max(Math.ceil(task.due - now()), 0));
  };
}

/** Hashed, because sequential names are slow and ids have letters that names must not have. */
function taskName({ counterId, due, isPoll }: AggregationTask): string {
  return createHash("sha256").update(`${counterId}\n${due}\n${isPoll}`).digest("hex").slice(0, 40);
}

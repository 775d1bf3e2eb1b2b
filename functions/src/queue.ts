/**
 * Schedules an aggregation: by Cloud Tasks, or by a timer of this process where a deployment has no task queue (an extension
 * in the emulator). Tasks of the same counter, time and kind are one task, however many instances schedule it.
 */
import { createHash } from "node:crypto";
import type { Functions } from "firebase-admin/functions";
import type { Millis } from "./config.ts";
import { sleep } from "./sleep.ts";

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
  // For a kit's own queue the Admin SDK needs the machine's credentials, which an emulator may lack. The full name with the
  // scope `global` avoids that.
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
 * Schedules tasks with timers of this process. None runs before it is due by `now`.
 *
 * @param run  what a timer calls when the task is due; it must handle its own errors
 */
export function timers(run: (task: AggregationTask) => Promise<void>, now: () => Millis): Schedule {
  const waiting = new Set<string>();
  return async (task) => {
    const name = taskName(task);
    if (waiting.has(name)) return;
    waiting.add(name);
    void sleep(task.due - now(), now).then(() => {
      waiting.delete(name);
      return run(task);
    });
  };
}

/** Hashed: sequential names slow the queue down, and ids have letters that names must not have. */
function taskName({ counterId, due, isPoll }: AggregationTask): string {
  return createHash("sha256").update(`${counterId}\n${due}\n${isPoll}`).digest("hex").slice(0, 40);
}

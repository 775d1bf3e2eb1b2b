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
}

/** Resolves once the aggregation is certain to happen. */
export type Schedule = (task: AggregationTask) => Promise<void>;

/** Cost: 1 task operation, whether the task is new or not. Errors of Cloud Tasks are passed on. */
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

/** @param run  what a timer calls when it goes off; it must handle its own errors */
export function timers(run: (task: AggregationTask) => Promise<void>, now: () => Millis): Schedule {
  const waiting = new Set<string>();
  return async (task) => {
    const name = taskName(task);
    if (waiting.has(name)) return;
    waiting.add(name);
    setTimeout(() => {
      waiting.delete(name);
      void run(task);
    }, task.due - now());
  };
}

/** Hashed, because sequential names are slow and ids have letters that names must not have. */
function taskName({ counterId, due }: AggregationTask): string {
  return createHash("sha256").update(`${counterId}\n${due}`).digest("hex").slice(0, 40);
}

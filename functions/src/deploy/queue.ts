/**
 * Schedules the tasks of counters: with Cloud Tasks, or in the emulator with timers of this process. Tasks of the same counter, time and
 * kind are one task, even if several instances schedule it.
 */
import { createHash } from "node:crypto";
import type { Functions } from "firebase-admin/functions";
import type { CounterTask, Schedule } from "../counter/cause.ts";
import { type Millis, sleep } from "../counter/time.ts";
import { FUNCTION_OF_TASK } from "./functions.ts";
import { nameInCodebase, packaging } from "./packaging.ts";

/**
 * Schedules tasks with Cloud Tasks, at most `MAX_TASK_DELAY` ahead. Cost: 1 task operation, whether the task is new or not.
 * Rejects with the errors of Cloud Tasks.
 */
export function cloudTasks(functions: Functions, location: string): Schedule {
  const { FUNCTIONS_EMULATOR, FIREBASE_KIT_INSTANCE_ID: kit } = process.env;
  const at = `locations/${location}/functions`;
  const queueOf = (name: string) => {
    const deployed = packaging() === "plain codebase" ? nameInCodebase(name) : name;
    // For a kit's own queue the Admin SDK needs the machine's credentials, which an emulator may lack. The full name with the
    // scope `global` avoids that.
    return FUNCTIONS_EMULATOR && kit
      ? functions.taskQueue<CounterTask>(`${at}/kit-${kit}-${deployed}`, { scope: "global" })
      : functions.taskQueue<CounterTask>(`${at}/${deployed}`);
  };
  const queues = new Map([...FUNCTION_OF_TASK].map(([kind, name]) => [kind, queueOf(name)] as const));
  return async (task) => {
    const options = { id: taskName(task), scheduleTime: new Date(task.due), dispatchDeadlineSeconds: 60 };
    const queue = queues.get(task.kind);
    if (!queue) throw new Error(`no function runs tasks of the kind "${task.kind}"`);
    try {
      await queue.enqueue(task, options);
    } catch (error) {
      if ((error as { code?: string }).code !== "functions/task-already-exists") throw error;
    }
  };
}

/** Schedules tasks with timers of this process. None runs before it is due by `now`. `run` must handle its own errors. */
export function timers(run: (task: CounterTask) => Promise<void>, now: () => Millis): Schedule {
  const scheduled = new Set<string>();
  return async (task) => {
    const name = taskName(task);
    if (scheduled.has(name)) return;
    scheduled.add(name);
    void sleep(task.due - now(), now).then(() => {
      scheduled.delete(name);
      return run(task);
    });
  };
}

/** A hash, since sequential names slow the queue down and ids may contain characters that are not allowed in names. */
function taskName({ counterId, due, kind, failingSince }: CounterTask): string {
  const isRetry = failingSince !== undefined;
  return createHash("sha256").update(`${counterId}\n${due}\n${kind} ${isRetry}`).digest("hex").slice(0, 40);
}

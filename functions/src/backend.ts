/** What every step of the backend needs: the database, the configuration, the clock and a way to put work off. */
import { initializeApp } from "firebase-admin/app";
import { type CollectionReference, type Firestore, getFirestore } from "firebase-admin/firestore";
import { getFunctions } from "firebase-admin/functions";
import { type Config, config, type Millis, params } from "./config.ts";
import { logError } from "./log.ts";
import { type AggregationTask, cloudTasks, type Schedule, timers } from "./queue.ts";
import { sleep } from "./sleep.ts";

/**
 * How far a snapshot may lag behind commits before it. Production's reads are externally consistent
 * (https://cloud.google.com/firestore/docs/understand-reads-writes-scale); the emulator's missed commits of the last 17 ms.
 */
const EMULATOR_MARGIN: Millis = 50;

export interface Backend {
  readonly firestore: Firestore;
  readonly counters: CollectionReference;
  readonly config: Config;
  readonly margin: Millis;
  readonly now: () => Millis;
  /** Waits; not at all if there is nothing to wait for. */
  readonly sleep: (duration: Millis) => Promise<void>;
  readonly schedule: Schedule;
  /**
   * Only in the emulator, which dispatches tasks at once: runs an early task by a timer. Waiting invocations would use up
   * its 50 processes.
   */
  readonly takeOver?: Schedule;
}

/**
 * The backend of this instance, made from its parameters and environment.
 *
 * @param runTask  what a task runs, for where there is no task queue
 */
export function createBackend(runTask: (backend: Backend, task: AggregationTask) => Promise<void>): Backend {
  const { EXT_INSTANCE_ID, FIRESTORE_EMULATOR_HOST, FUNCTIONS_EMULATOR } = process.env;
  // In the emulator any account will do; without one, each task would look for the machine's over the network first.
  const app = FUNCTIONS_EMULATOR ? initializeApp({ serviceAccountId: "emulator@localhost" }) : initializeApp();
  const firestore = getFirestore(app, params.database.value());
  const hasTaskQueue = !(EXT_INSTANCE_ID && FUNCTIONS_EMULATOR);
  const inProcess = timers(runLater, Date.now);
  const backend: Backend = {
    firestore,
    counters: firestore.collection(config().collection),
    config: config(),
    margin: FIRESTORE_EMULATOR_HOST ? EMULATOR_MARGIN : 0,
    now: Date.now,
    sleep,
    schedule: hasTaskQueue ? cloudTasks(getFunctions(app), params.location.value()) : inProcess,
    ...(FUNCTIONS_EMULATOR ? { takeOver: inProcess } : {}),
  };
  return backend;

  async function runLater(task: AggregationTask): Promise<void> {
    try {
      await runTask(backend, task);
    } catch (error) {
      logError("an aggregation failed; the next write or sweep repeats it", { counter: task.counterId, error });
    }
  }
}

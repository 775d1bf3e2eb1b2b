/** What every step of the backend needs: the database, the configuration, the clock and a way to schedule tasks. */
import { initializeApp } from "firebase-admin/app";
import { type CollectionReference, type Firestore, getFirestore } from "firebase-admin/firestore";
import { getFunctions } from "firebase-admin/functions";
import { retry } from "../../../admin/src/internal.ts";
import type { CounterTask, Schedule } from "./cause.ts";
import type { Config } from "./config.ts";
import { logError } from "./log.ts";
import { packaging } from "../deploy/packaging.ts";
import { deployedConfig, params } from "../deploy/parameters.ts";
import { cloudTasks, timers } from "./queue.ts";
import { connectOtherRegions, type OtherRegion } from "../features/regions/connect.ts";
import { type Millis, sleep } from "./time.ts";

/**
 * How far the emulator's snapshots may lag behind its commits: they have missed those of the last 17 ms. Production's reads
 * are externally consistent (https://cloud.google.com/firestore/docs/understand-reads-writes-scale).
 */
const EMULATOR_SNAPSHOT_LAG: Millis = 50;

export interface Backend {
  readonly firestore: Firestore;
  readonly counters: CollectionReference;
  readonly config: Config;
  /** The other regions, by name. */
  readonly otherRegions: ReadonlyMap<string, OtherRegion>;
  /** How far the database's snapshots may lag behind its commits. */
  readonly snapshotLag: Millis;
  readonly now: () => Millis;
  /** Returns at once if the duration is not positive. */
  readonly sleep: (duration: Millis) => Promise<void>;
  readonly schedule: Schedule;
  /**
   * Runs a task that came early by a timer. Only in the emulator, which dispatches tasks at once and has 50 processes, so
   * that waiting invocations would use them up.
   */
  readonly runByTimer?: Schedule;
}

/** Creates the backend of this instance from its parameters and environment. */
export function createBackend(runTask: (backend: Backend, task: CounterTask) => Promise<void>): Backend {
  const { FIRESTORE_EMULATOR_HOST, FUNCTIONS_EMULATOR } = process.env;
  // The emulator accepts any account. Without one, each task would first look for the machine's over the network.
  const app = FUNCTIONS_EMULATOR ? initializeApp({ serviceAccountId: "emulator@localhost" }) : initializeApp();
  const firestore = getFirestore(app, params.database.value());
  const config = deployedConfig();
  const hasTaskQueue = !(packaging() === "extension" && FUNCTIONS_EMULATOR);
  const inProcess = timers(runLater, Date.now);
  const backend: Backend = {
    firestore,
    counters: firestore.collection(config.collection),
    config,
    otherRegions: config.regions ? connectOtherRegions(app, config.regions, config.collection) : new Map(),
    snapshotLag: FIRESTORE_EMULATOR_HOST ? EMULATOR_SNAPSHOT_LAG : 0,
    now: Date.now,
    sleep,
    schedule: hasTaskQueue ? cloudTasks(getFunctions(app), params.location.value()) : inProcess,
    ...(FUNCTIONS_EMULATOR ? { runByTimer: inProcess } : {}),
  };
  return backend;

  /** Repeats a task after a transient error, as Cloud Tasks do. */
  async function runLater(task: CounterTask): Promise<void> {
    await retry(() => runTask(backend, task)).catch((error) => {
      logError("a task failed; the next write or sweep repeats it", { counter: task.counterId, error });
    });
  }
}

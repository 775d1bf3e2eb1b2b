/** The backend of an instance, from its parameters and environment. */
import { type App, initializeApp } from "firebase-admin/app";
import { getFirestore } from "firebase-admin/firestore";
import { EMULATOR_SNAPSHOT_LAG_MS, retry } from "../../../firestore/src/index.ts";
import type { Backend, FeatureConnections } from "../counter/backend.ts";
import type { CounterTask, Schedule } from "../counter/cause.ts";
import { logError } from "../counter/log.ts";
import { sleep } from "../counter/time.ts";
import { byName } from "../counter/types.ts";
import { FEATURES } from "../features/features.ts";
import { deployedConfig, textParam } from "./cliParams.ts";
import { packaging } from "./packaging.ts";
import { cloudTasks, timers } from "./queue.ts";

/** Creates the backend of this instance from its parameters and environment. */
export function createBackend(runTask: (backend: Backend, task: CounterTask) => Promise<void>): Backend {
  const { FIRESTORE_EMULATOR_HOST, FUNCTIONS_EMULATOR } = process.env;
  // The emulator accepts any account. Without one, each task would first look for the machine's over the network.
  const app = FUNCTIONS_EMULATOR ? initializeApp({ serviceAccountId: "emulator@localhost" }) : initializeApp();
  const firestore = getFirestore(app, textParam("DATABASE_ID").value());
  const config = deployedConfig();
  const hasTaskQueue = !(packaging() === "extension" && FUNCTIONS_EMULATOR);
  const inProcess = timers(runLater, Date.now);
  const backend: Backend = {
    firestore,
    counters: firestore.collection(config.collection),
    config,
    features: FEATURES,
    pausedUntil: new Map(),
    connections: byName<FeatureConnections>(FEATURES.map((one) => [one.name, one.connect?.(app, config)])),
    snapshotLag: FIRESTORE_EMULATOR_HOST ? EMULATOR_SNAPSHOT_LAG_MS : 0,
    now: Date.now,
    sleep,
    schedule: hasTaskQueue ? loadedCloudTasks(app, textParam("LOCATION").value()) : inProcess,
    ...(FUNCTIONS_EMULATOR ? { runByTimer: inProcess, losesTasks: true } : {}),
  };
  return backend;

  /** Repeats a task after a transient error, as Cloud Tasks do. */
  async function runLater(task: CounterTask): Promise<void> {
    await retry(() => runTask(backend, task)).catch((error) => {
      logError("a task failed; the next write or sweep repeats it", { counter: task.counterId, error });
    });
  }
}

/** {@link cloudTasks}, whose SDK is loaded by the first task. */
function loadedCloudTasks(app: App, location: string): Schedule {
  let loading: Promise<Schedule> | undefined;
  return async (task) => {
    loading ??= import("firebase-admin/functions").then(({ getFunctions }) => cloudTasks(getFunctions(app), location));
    const schedule = await loading;
    await schedule(task);
  };
}

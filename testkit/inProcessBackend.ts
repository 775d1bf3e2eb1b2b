/**
 * The functions' code in the process of a test, against the emulator, without a deployment: the test chooses intervals, delivers events
 * and runs tasks. Whatever may happen to these is in test/simulation.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Firestore } from "firebase-admin/firestore";
import type { Backend } from "../functions/src/counter/backend.ts";
import type { CounterTask } from "../functions/src/counter/cause.ts";
import { DEFAULT_CONFIG } from "../functions/src/deploy/defaultConfig.ts";
import { FEATURES } from "../functions/src/features/features.ts";
import { admin } from "./clients.ts";

/** The emulator's snapshots may miss commits of the last few milliseconds (see backend.ts). */
export const SNAPSHOT_LAG = 50;

let created = 0;
/** A new collection of counters, which triggers no deployed function. */
const newCollection = () => `backend${process.pid}x${created++}`;

interface InProcessBackend {
  readonly backend: Backend;
  /** Scheduled and not yet run. */
  readonly tasks: CounterTask[];
}

/** A backend whose scheduled tasks wait in `tasks` until the test runs them. */
export function inProcessBackend(
  changes: Partial<Backend["config"]> = {},
  firestore: Firestore = admin,
): InProcessBackend {
  const { collection = newCollection() } = changes;
  const tasks: CounterTask[] = [];
  const names = new Set<string>();
  const backend: Backend = {
    firestore,
    counters: firestore.collection(collection),
    config: {
      ...DEFAULT_CONFIG,
      collection,
      maxShards: 1_000,
      shrinkCooldown: 1_000,
      minInterval: 200,
      maxInterval: 1_000,
      visitors: "yes",
      items: true,
      windows: { groups: "all", timeZone: "UTC" },
      history: { groups: [], retention: 86_400_000 },
      ...changes,
    },
    features: FEATURES,
    pausedUntil: new Map(),
    connections: {},
    snapshotLag: SNAPSHOT_LAG,
    now: Date.now,
    sleep: (duration) => (duration > 0 ? sleep(duration) : Promise.resolve()),
    // As in Cloud Tasks, a name can be used once, whether or not its task has run.
    schedule: async (task) => {
      const name = JSON.stringify(task);
      if (names.has(name)) return;
      names.add(name);
      tasks.push(task);
    },
  };
  return { backend, tasks };
}

/** What every step needs: the database, the configuration, the clock and a way to schedule tasks. */
import type { CollectionReference, Firestore } from "firebase-admin/firestore";
import type { Schedule } from "./cause.ts";
import type { Millis } from "./time.ts";
import type { CounterConfig, PublishHooks } from "./types.ts";

/** The connections of each feature besides the database, declared as types.ts says. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface FeatureConnections {}

export interface Backend {
  readonly firestore: Firestore;
  readonly counters: CollectionReference;
  readonly config: CounterConfig;
  /** The features of `config.plans`, with their hooks that need Firestore. */
  readonly features: readonly PublishHooks[];
  /** By feature. Absent: a feature that is off. */
  readonly connections: Partial<FeatureConnections>;
  /** Feature and counter → until when this instance publishes the counter without it. */
  readonly pausedUntil: Map<string, Millis>;
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
  /** Whether tasks end with the processes: only in the emulator, whose exports lack them. */
  readonly losesTasks?: boolean;
}

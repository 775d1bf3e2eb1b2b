/** What every step needs: the database, the configuration, the clock and a way to schedule tasks. */
import type { CollectionReference, Firestore } from "firebase-admin/firestore";
import type { Schedule } from "./cause.ts";
import type { Millis } from "./time.ts";
import type { CounterConfig, PublishPart } from "./types.ts";

/** What each feature is connected to besides the database. It declares the type as those of types.ts. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface FeatureConnections {}

export interface Backend {
  readonly firestore: Firestore;
  readonly counters: CollectionReference;
  readonly config: CounterConfig;
  /** The features that join a publish: those of `config.plans`, and those without a plan. */
  readonly features: readonly PublishPart[];
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

/**
 * The phases of a counter: what brings the next measurement about, and when.
 *
 *                    a write            2 writes an interval
 *     unpublished ────────────▶ idle ────────────────────────▶ busy
 *                                ▲ ▲                           │  │
 *                                │ └── fewer, all shards wake ─┘  │ far fewer, and there are silent shards
 *                                │                                ▼
 *                                │        ┌───── a write ────▶ scattered
 *                                │        │ (of any phase below)  │ no write since the last poll
 *                                │        │                       ▼
 *                                │        ├──────────────────── quiet
 *                                │        │                       │ none for a minute: the count shrinks
 *                                │        │                       ▼
 *                                │        ├──────────────────── shrunk
 *                                │        │                       │ none by writers that went by the old count
 *                                │        │                       ▼
 *                                └── fold ┴──────────────────── cooling     after the cool-down
 *
 * `idle`: each shard wakes the functions when it is written, so nothing is scheduled. In the other phases the counter is
 * polled: the publish has scheduled the next measurement, at `nextPollAt`. Either so many writes come that polls are cheaper than
 * being woken (`busy`), or there are *silent* shards (all but `0` and `base`): later writes to them wake nothing.
 */
import type { Config, Millis } from "./config.ts";

/**
 * How far ahead a task may be due. In a kit or an extension a task carries an ID token, which the Admin SDK fetches when it
 * enqueues the task (`updateTaskPayload` in `firebase-admin/lib/functions/functions-api-client-internal.js`) and which is
 * valid for an hour (https://cloud.google.com/docs/authentication/token-types#id). A plain codebase keeps to the same limit.
 */
export const LONGEST_DELAY: Millis = 50 * 60_000;

export const PHASES = ["idle", "busy", "scattered", "quiet", "shrunk", "cooling"] as const;
export type Phase = (typeof PHASES)[number];

/** The phases in which a counter is polled. */
export const POLLED: readonly Phase[] = PHASES.filter((phase) => phase !== "idle");

/** From so many writes in an interval on, a poll is cheaper than being woken by each. */
const BUSY_WRITES = 2;

/** From so many on if most of them wake nothing. */
const BUSY_WRITES_IF_SILENT = 0.2;

/** How long a counter must have been quiet to shrink. */
const QUIET: Millis = 60_000;

/** Longer than any client goes by a shard count that it has read (`SHARD_COUNT_TTL_MS`), and waits for its write. */
const STALE_WRITERS: Millis = 130_000;

/** After how long without a write a counter is shrunk, is cooling, and has its silent shards folded. */
function timesOf({ shrinkCooldown }: Pick<Config, "shrinkCooldown">) {
  const shrunk = Math.min(QUIET, shrinkCooldown);
  return { shrunk, cooling: shrunk + Math.min(STALE_WRITERS, shrinkCooldown), folded: shrinkCooldown };
}

/** Whether nothing has been written lately. */
export function isQuiet(phase: Phase | undefined): boolean {
  return phase === "quiet" || phase === "shrunk" || phase === "cooling";
}

/** What a measurement has found, as far as the phase depends on it. */
export interface Activity {
  /** Whether anything was written since the last publish. */
  readonly isWritten: boolean;
  /** For how long nothing has been written, if the counter was quiet before. */
  readonly quietFor: Millis;
  /** Writes per second. */
  readonly rate: number;
  /** The least time between this publish and the next. */
  readonly interval: Millis;
  /** Whether there are shards whose writes wake nothing. */
  readonly hasSilentShards: boolean;
}

/** The phase that follows. A counter that was never published has none before. */
export function nextPhase(before: Phase | undefined, activity: Activity, config: Config): Phase {
  const { isWritten, quietFor, rate, interval, hasSilentShards } = activity;
  // After a pause, or before the first publish, the average is unreliable.
  const isAwake = before === "busy" || before === "scattered";
  if (rate * interval >= 1_000 * (hasSilentShards && isAwake ? BUSY_WRITES_IF_SILENT : BUSY_WRITES)) return "busy";
  if (!hasSilentShards) return "idle";
  if (isWritten || before === undefined || before === "idle") return "scattered";
  const { shrunk, cooling } = timesOf(config);
  return quietFor >= cooling ? "cooling" : quietFor >= shrunk ? "shrunk" : "quiet";
}

/**
 * The time from a publish to the next poll; `undefined` if the next write triggers the measurement. At most the longest
 * interval while the shard count is above 1.
 */
export function pollAfter(
  phase: Phase,
  { rate, interval, quietFor, shardCount }: Pick<Activity, "rate" | "interval" | "quietFor"> & { shardCount: number },
  config: Config,
): Millis | undefined {
  const { maxInterval } = config;
  const { shrunk, cooling, folded } = timesOf(config);
  const until = (time: Millis) => Math.max(time - quietFor, maxInterval);
  const delays: Record<Phase, Millis | undefined> = {
    idle: undefined,
    // The interval, or the time in which a write is expected.
    busy: Math.min(1_000 / rate, maxInterval),
    scattered: maxInterval,
    quiet: until(shrunk),
    shrunk: until(cooling),
    // A shard that is still there was not folded: it is malformed, or was changed without being counted up.
    cooling: quietFor < folded ? until(folded) : LONGEST_DELAY,
  };
  const delay = delays[phase];
  if (delay === undefined) return undefined;
  return Math.min(Math.max(shardCount > 1 ? Math.min(delay, maxInterval) : delay, interval), LONGEST_DELAY);
}

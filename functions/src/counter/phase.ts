/**
 * The phases of a counter: what causes the next measurement, and when.
 *
 *                    a write            2 writes an interval
 *     unpublished ────────────▶ idle ────────────────────────▶ busy
 *                                ▲ ▲                           │  │
 *                                │ └ fewer, no silent shards ──┘  │ far fewer, and there are silent shards
 *                                │                                ▼
 *                                │        ┌───── a write ────▶ scattered
 *                                │        │ (in any phase below) │ no write since the last poll
 *                                │        │                       ▼
 *                                │        ├──────────────────── quiet
 *                                │        │                       │ no write for a minute: the count shrinks
 *                                │        │                       ▼
 *                                │        ├──────────────────── shrunk
 *                                │        │                       │ no write; by now few clients have the old count
 *                                │        │                       ▼
 *                                └── fold ┴──────────────────── cooling     after the cool-down
 *
 * `idle`: there are no silent shards, so every write of a shard triggers the functions, and nothing is scheduled. In the other phases the
 * counter is polled: each publish schedules the next measurement, at `nextPollAt`. Either polls are cheaper than
 * an invocation for each write (`busy`), or there are silent shards.
 *
 *     silent   a shard other than `0` and `base`: its creation triggers the functions, its updates do not
 *     quiet    a counter without writes: the phases quiet, shrunk and cooling
 */
import { MAX_TASK_DELAY } from "./cause.ts";
import type { Millis } from "./time.ts";
import type { CounterSettings, Phase } from "./types.ts";

export const PHASES: readonly Phase[] = ["idle", "busy", "scattered", "quiet", "shrunk", "cooling"];

/** The phases in which a counter is polled. */
export const POLLED_PHASES: readonly Phase[] = PHASES.filter((phase) => phase !== "idle");

/** From this many writes in an interval on, polling is cheaper than an invocation for each. */
const BUSY_WRITES = 2;

/** The same if most writes are to silent shards. */
const BUSY_WRITES_IF_SILENT = 0.2;

/** How long a counter must have been quiet to shrink. */
const SHRINK_AFTER: Millis = 60_000;

/** Longer than a client uses a shard count (`SHARD_COUNT_TTL_MS`) and waits for its write. Only hidden pages may take longer. */
const STALE_CLIENTS: Millis = 130_000;

/** How long after the last write a counter is shrunk, is cooling, and has its silent shards folded. */
function timeline({ shrinkCooldown }: Pick<CounterSettings, "shrinkCooldown">) {
  const shrunk = Math.min(SHRINK_AFTER, shrinkCooldown);
  return { shrunk, cooling: shrunk + Math.min(STALE_CLIENTS, shrinkCooldown), folded: shrinkCooldown };
}

/** Whether nothing was written lately. */
export function isQuiet(phase: Phase | undefined): boolean {
  return phase === "quiet" || phase === "shrunk" || phase === "cooling";
}

/** What a measurement has found, as far as the phase depends on it. */
export interface Activity {
  /** Whether anything was written since the last publish. */
  readonly isWritten: boolean;
  /** For how long nothing was written, if the counter was quiet before. */
  readonly quietFor: Millis;
  /** Writes per second. */
  readonly rate: number;
  /** The least time between this publish and the next. */
  readonly interval: Millis;
  readonly hasSilentShards: boolean;
}

/** The phase after a measurement. `before` is `undefined` for a counter that was never published. */
export function nextPhase(before: Phase | undefined, activity: Activity, config: CounterSettings): Phase {
  const { isWritten, quietFor, rate, interval, hasSilentShards } = activity;
  // After a pause, or before the first publish, the average is unreliable.
  const isRateReliable = before === "busy" || before === "scattered";
  const busyWrites = hasSilentShards && isRateReliable ? BUSY_WRITES_IF_SILENT : BUSY_WRITES;
  if (rate * interval >= 1_000 * busyWrites) return "busy";
  if (!hasSilentShards) return "idle";
  if (isWritten || before === undefined || before === "idle") return "scattered";
  const { shrunk, cooling } = timeline(config);
  return quietFor >= cooling ? "cooling" : quietFor >= shrunk ? "shrunk" : "quiet";
}

/** What the time of the next poll depends on. */
export interface PollTiming extends Pick<Activity, "rate" | "interval" | "quietFor"> {
  readonly shardCount: number;
  /** Whether the next scheduled poll folds. */
  readonly isFoldDue: boolean;
}

/** The time from a publish to the next poll; `undefined` if the next write triggers the measurement. */
export function pollDelay(
  phase: Phase,
  { rate, interval, quietFor, shardCount, isFoldDue }: PollTiming,
  config: CounterSettings,
): Millis | undefined {
  const { maxInterval } = config;
  const { shrunk, cooling, folded } = timeline(config);
  const until = (time: Millis) => Math.max(time - quietFor, maxInterval);
  const delays: Record<Phase, Millis | undefined> = {
    idle: undefined,
    // The time in which one write is expected; the interval, which is the least, applies below.
    busy: Math.min(1_000 / rate, maxInterval),
    scattered: maxInterval,
    quiet: until(shrunk),
    shrunk: until(cooling),
    // A shard that still exists could not be folded: it is malformed, or a server keeps changing it without `writes`.
    cooling: quietFor < folded ? until(folded) : MAX_TASK_DELAY,
  };
  const delay = delays[phase];
  if (delay === undefined) return undefined;
  // Only a poll folds, and each publish by an event puts the poll off. So once a fold is due, the poll comes after the shortest time.
  if (isFoldDue) return interval;
  // Writers may still spread over several shards, whose writes trigger nothing.
  return Math.min(Math.max(shardCount > 1 ? Math.min(delay, maxInterval) : delay, interval), MAX_TASK_DELAY);
}

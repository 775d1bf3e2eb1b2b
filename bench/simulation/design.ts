/**
 * The two designs of the backend that are compared: which writes wake it, which counters it polls, what it publishes and
 * when it folds. All that differs between them is here; how a decision is carried out is in `backend`.
 *
 * "every write wakes": each write of a shard triggers a function. The decisions are those of `functions/src`.
 * "shard 0 wakes": a write of shard 0 or the creation of any shard triggers one. So whoever has other shards is polled until
 * those are folded. An idle counter is folded whole after a cool-down.
 */
import type { Config, Millis } from "../../functions/src/config.ts";
import { toMillis } from "../../functions/src/counter.ts";
import { foldable, isSurplus } from "../../functions/src/fold.ts";
import { isSparse, publishInterval } from "../../functions/src/interval.ts";
import { type MeasuredShard, shardIndex } from "../../functions/src/measure.ts";
import { isPolled, type Outlook, outlookOf } from "../../functions/src/outlook.ts";
import { isNews, nextPublished } from "../../functions/src/publish.ts";
import type { CounterDocument, Snapshot } from "./counter.ts";
import { scale } from "./policy.ts";
import { configOf, type Settings } from "./settings.ts";

export interface Design {
  readonly name: string;
  /** Whether a write of a shard wakes the functions; `undefined` for `base`. */
  triggers(shard: number | undefined, isCreation: boolean): boolean;
  /** Whether deleting a shard invokes a function. */
  readonly deletesTrigger: boolean;
  /** Whether the creation of shard 0 is taken for a new counter, whose document need not be read. */
  readonly trustsCreation: boolean;
  /** Whether the sweep measures and folds, or only looks whether somebody else does. */
  readonly sweepFolds: boolean;
  isPolled(counter: CounterDocument, config: Config): boolean;
  outlook(counter: CounterDocument, config: Config): Outlook;
  next(previous: CounterDocument | undefined, measurement: Snapshot, settings: Settings): CounterDocument;
  isNews(previous: CounterDocument | undefined, next: CounterDocument, measurement: Snapshot): boolean;
  /** When to measure again although there was no news; `undefined` if not before the next wake. */
  pollAgain(previous: CounterDocument, now: Millis, config: Config): Millis | undefined;
  /** What to fold before measuring again and publishing. */
  foldFirst(next: CounterDocument, measurement: Snapshot, settings: Settings): readonly MeasuredShard[];
  /** What to fold once that is published. */
  foldLater(next: CounterDocument, measurement: Snapshot, settings: Settings): readonly MeasuredShard[];
}

/**
 * What the functions' own `nextPublished` makes of a measurement, with the policy as it was set.
 *
 * @param asleep  if nobody would have looked at this counter without the writes that were measured: since when they may
 *                have been made. Then they tell more of the rate than the time since the last publish does
 */
function published(
  previous: CounterDocument | undefined,
  measurement: Snapshot,
  settings: Settings,
  asleep?: Millis,
): CounterDocument {
  const config = configOf(settings);
  const next = nextPublished(previous, measurement, config);
  const writes = next.writes - (previous?.writes ?? (asleep === undefined ? next.writes : 0));
  const burst = asleep === undefined ? 0 : (writes * 1_000) / Math.max(next.asOf - asleep, config.minInterval);
  const rate = Math.max(next.rate, burst);
  const elapsed = next.asOf - (previous?.asOf ?? next.asOf);
  const { memory } = settings;
  const lasting = previous ? (previous.lasting * memory + rate * elapsed) / Math.max(memory + elapsed, 1) : rate;
  const before = previous ?? { shardCount: config.minShards, calmSince: null };
  const { shardCount, calmSince } = scale({ rate, writes, lasting }, before, next.asOf, settings);
  const isSpread = measurement.shards.some(({ id }) => (shardIndex(id) ?? 0) > 0);
  const surplus = measurement.shards.some((shard) => isSurplus(shard, shardCount));
  const unsettled = shardCount > config.minShards || surplus || !isSparse(next.rate, config);
  return { ...next, shardCount, calmSince, unsettled, isSpread, lasting, isGrowing: false, idleSince: null };
}

const everyWriteWakes: Design = {
  name: "every write wakes",
  deletesTrigger: true,
  trustsCreation: false,
  sweepFolds: true,
  triggers: () => true,
  isPolled,
  outlook: (counter, config) => outlookOf(counter, 0, config),
  next: (previous, measurement, settings) => published(previous, measurement, settings),
  isNews,
  pollAgain: () => undefined,
  foldFirst: () => [],
  foldLater: () => [],
};

/** Least number of writes expected in the longest interval for a counter not to be idle. */
const BUSY_WRITES_PER_INTERVAL = 2;

/** Nobody pays for a counter that is written now and then to be read every second. */
function pollInterval(counter: CounterDocument, config: Config): Millis {
  if (counter.isGrowing) return config.minInterval;
  return counter.isSpread && isSparse(counter.rate, config) ? config.maxInterval : publishInterval(counter, config);
}

function idleCooldown({ shardCount }: CounterDocument, { idleCooldown, idlePerShard }: Settings): Millis {
  return idlePerShard > 0 ? Math.min(idleCooldown, idlePerShard * shardCount) : idleCooldown;
}

/** Who is not polled is measured as soon as it is written after its due time: so all that is new is of the last moment. */
function asleep(previous: CounterDocument | undefined, measurement: Snapshot, settings: Settings): Millis | undefined {
  if (settings.firstRate === 0) return undefined;
  if (!previous) return measurement.createdAt;
  const config = configOf(settings);
  const { due } = shardZeroWakes.outlook(previous, config);
  const now = toMillis(measurement.asOf);
  return now > due + config.minInterval && !shardZeroWakes.isPolled(previous, config) ? now : undefined;
}

const shardZeroWakes: Design = {
  name: "shard 0 wakes",
  deletesTrigger: false,
  trustsCreation: true,
  sweepFolds: false,
  triggers: (shard, isCreation) => shard === 0 || isCreation,
  isPolled: (counter, config) => counter.isSpread || counter.rate * pollInterval(counter, config) >= 2_000,
  outlook(counter, config) {
    const due = counter.asOf + pollInterval(counter, config);
    return { due, coveredUntil: shardZeroWakes.isPolled(counter, config) ? due + config.minInterval : counter.asOf };
  },
  next(previous, measurement, settings) {
    const decided = published(previous, measurement, settings, asleep(previous, measurement, settings));
    const isGrowing = settings.hurry > 0 && decided.shardCount > (previous?.shardCount ?? decided.shardCount);
    const next = { ...decided, isGrowing };
    const isBusy = next.rate * settings.maxInterval >= BUSY_WRITES_PER_INTERVAL * 1_000;
    if (isBusy || next.shardCount > (previous?.shardCount ?? settings.minShards)) return next;
    const quietSince = previous && previous.writes === next.writes ? previous.asOf : next.asOf;
    const idleSince = previous?.idleSince ?? quietSince;
    if (next.asOf - idleSince < idleCooldown(next, settings)) return { ...next, idleSince };
    return { ...next, idleSince, shardCount: settings.minShards, calmSince: null, unsettled: next.isSpread };
  },
  isNews(previous, next, { shards }) {
    if (!previous) return next.shardDocuments > 0;
    const isWritten = shards.some(
      ({ id, updatedAt }) => shardIndex(id) !== undefined && toMillis(updatedAt) > previous.asOf,
    );
    return (
      isWritten ||
      // What was written may have been folded since.
      next.writes > previous.writes ||
      next.shardCount !== previous.shardCount ||
      next.isSpread !== previous.isSpread ||
      next.rate > 0 !== previous.rate > 0
    );
  },
  pollAgain(previous, now, config) {
    if (!previous.isSpread && now >= shardZeroWakes.outlook(previous, config).coveredUntil) return undefined;
    const interval = pollInterval(previous, config);
    return previous.asOf + (Math.floor((now - previous.asOf) / interval) + 1) * interval;
  },
  foldFirst(next, { shards }, settings) {
    const isResting = next.idleSince !== null && next.shardCount === settings.minShards;
    return isResting ? shards.filter((shard) => isSurplus(shard, next.shardCount)) : [];
  },
  foldLater: (next, measurement, { foldAfter }) =>
    foldable(measurement, next.shardCount, { shrinkCooldown: foldAfter }),
};

export const DESIGNS = [everyWriteWakes, shardZeroWakes] as const;

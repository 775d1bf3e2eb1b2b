/**
 * The two designs of the backend that are compared: which writes wake it, what it publishes, and who folds. All that differs
 * between them is here; how a decision is carried out is in `backend`.
 *
 * Shard 0 wakes, as deployed: shard 0, `base` and new shards wake. Every decision is that of `functions/src`.
 * Every write wakes, as it was: every write of a shard wakes. So no shard is silent, and with none, the functions' own rules poll by the rate
 * alone. Shards rest for the cool-down, and the sweep folds.
 */

import type { Config, Millis } from "../../functions/src/config.ts";
import type { Published } from "../../functions/src/counter.ts";
import { foldable, quietSurplus } from "../../functions/src/fold.ts";
import { type MeasuredShard, type Measurement, shardIndex, WOKEN } from "../../functions/src/measure.ts";
import { outlookOf } from "../../functions/src/outlook.ts";
import { isOverdue } from "../../functions/src/sweep.ts";
import { published } from "./policy.ts";
import { configOf, type Settings } from "./settings.ts";

export interface Design {
  readonly name: string;
  /** Whether a write of a shard wakes the functions; `undefined` for `base`. */
  triggers(shard: number | undefined, isCreation: boolean): boolean;
  /** Whether deleting a shard invokes a function. */
  readonly deletesTrigger: boolean;
  /** Whether the creation of shard 0 is taken for a new counter, whose document need not be read. */
  readonly trustsCreation: boolean;
  next(
    previous: Published | undefined,
    measurement: Measurement,
    settings: Settings,
    wokenAt: Millis | undefined,
  ): Published;
  /** What an aggregation folds before it measures again and publishes. */
  surplus(next: Published, measurement: Measurement, settings: Settings): readonly MeasuredShard[];
  /** What a sweep does about a counter: nothing, measure and fold, or aggregate. */
  swept(counter: Published, now: Millis, config: Config): "nothing" | "fold" | "aggregate";
  /** What a sweep folds. */
  leftovers(counter: Published, measurement: Measurement, config: Config): readonly MeasuredShard[];
}

/** What of the clients' shards wakes the functions by more than its creation. */
const WOKEN_SHARDS = WOKEN.map(shardIndex);

const shard0Wakes: Design = {
  name: "shard 0 wakes",
  triggers: (shard, isCreation) => isCreation || WOKEN_SHARDS.includes(shard),
  deletesTrigger: false,
  trustsCreation: true,
  next: published,
  surplus: (next, measurement, settings) => foldable(measurement, next, configOf(settings)),
  swept: (counter, now, config) => (isOverdue(counter, now, 0, config) ? "aggregate" : "nothing"),
  leftovers: () => [],
};

const everyWriteWakes: Design = {
  name: "every write wakes",
  triggers: () => true,
  deletesTrigger: true,
  trustsCreation: false,
  next: (...measured) => ({ ...published(...measured), silentShards: 0 }),
  surplus: () => [],
  swept(counter, now, config) {
    const isCooling = counter.calmSince !== null && now < counter.calmSince + config.shrinkCooldown;
    if (counter.rate === 0 && isCooling) return "nothing";
    const { coveredUntil, due } = outlookOf(counter, 0, config);
    return now < Math.max(coveredUntil, due) ? "fold" : "aggregate";
  },
  leftovers: ({ shardCount }, measurement, { shrinkCooldown }) => quietSurplus(measurement, shardCount, shrinkCooldown),
};

export const DESIGNS = [everyWriteWakes, shard0Wakes] as const;

/**
 * What was asked of a counter since it was last measured: by this it grows.
 *
 * A rate is an average over the time since the last publish. Of a counter that nobody looked after that time says nothing:
 * ten writes after an hour of silence are not ten an hour, they are ten at once. So what wakes a counter counts as if it
 * went on like that, for the shortest interval at least.
 */
import type { Config, Millis } from "./config.ts";
import { type Published, toMillis } from "./counter.ts";
import { type MeasuredShard, type Measurement, shardIndex, WOKEN } from "./measure.ts";
import { isPolled, outlookOf } from "./outlook.ts";

/** Writes, and the time in which they were made. */
export interface Demand {
  readonly writes: number;
  /** More than 0. */
  readonly within: Millis;
  /** How long before the measurement the last write was. */
  readonly quietFor: Millis;
  /** Whether somebody has spread wider than the shard count, as a client does whose writes are slow. */
  readonly isContended: boolean;
}

/** The write that must be counted, or scheduled to be, when an aggregation returns. */
export interface Wanted {
  /** Its commit time; or that up to which all must be counted. */
  readonly committedAt: Millis;
  /** The shard it changed, where known: finding it in the measurement is proof enough. */
  readonly shardId?: string;
  /** Whether it created that shard. */
  readonly isNew?: boolean;
}

/** @param wokenAt  when the counter was woken, if it was: see {@link wakes} */
export function demandOf(
  previous: Published | undefined,
  { asOf, shards, writes }: Pick<Measurement, "asOf" | "shards" | "writes">,
  wokenAt: Millis | undefined,
  { minInterval, minShards }: Config,
): Demand {
  const now = toMillis(asOf);
  const quietFor = now - shards.reduce((last, { updatedAt }) => Math.max(last, toMillis(updatedAt)), 0);
  const isNews = ({ updatedAt }: MeasuredShard) => toMillis(updatedAt) > (previous?.asOf ?? 0);
  const isContended = shards.some(
    (one) => (shardIndex(one.id) ?? 0) >= (previous?.shardCount ?? minShards) && isNews(one),
  );
  const rest = { writes: Math.max(writes - (previous?.writes ?? 0), 0), quietFor, isContended };
  if (wokenAt !== undefined) return { ...rest, within: Math.max(now - wokenAt, minInterval) };
  // Of a counter that was never published, nobody knows since when it has been written to.
  if (!previous) return { ...rest, writes: 0, within: minInterval };
  return { ...rest, within: Math.max(now - previous.asOf, 1) };
}

/**
 * Whether a counter slept until this write: it begins with it; or it has long been due, and was not written to often enough to
 * be polled. That it is polled for the sake of a straggler on a silent shard does not count.
 */
export function wakes(previous: Published | undefined, wanted: Wanted, now: Millis, config: Config): boolean {
  if (!previous) return wanted.isNew === true && wanted.shardId === WOKEN[0];
  const { due } = outlookOf(previous, 0, config);
  const isBusy = isPolled({ ...previous, silentShards: 0 }, config);
  return wanted.shardId !== undefined && !isBusy && now > due + config.minInterval;
}

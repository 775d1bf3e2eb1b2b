/**
 * The demand that a measurement shows: from which its shard count is decided. It holds an average rate, and the writes
 * since the last measurement: ten after an hour of silence are a burst, not ten an hour.
 */
import type { Millis } from "./config.ts";

/** The time constant of the average: what was so long ago weighs a third of what is now. */
export const RATE_TIME_CONSTANT: Millis = 5_000;

/** Writing has stopped when this many expected writes are missing: e⁻¹⁰, or 1 in 22,000, by chance. */
const STOPPED = 10;

/** What was asked of a counter since it was measured last. */
export interface Demand {
  /** Writes per second, averaged over some seconds. */
  readonly rate: number;
  /** Writes since the last measurement, or since the one that woke the counter. */
  readonly writes: number;
  /** The time in which those were made. More than 0. */
  readonly within: Millis;
  /**
   * How many shards have appeared beyond those that writers were told of; 0 if there are none. Clients whose writes are
   * refused or slow choose among more shards, so this is how contention shows.
   */
  readonly beyond: number;
}

/**
 * The rate after another stretch of time.
 *
 * @param before  the rate before; 0 if there was none
 * @param writes  how many there were
 * @param within  in this time, more than 0
 */
export function nextRate(before: number, writes: number, within: Millis): number {
  if (writes === 0 && (before * within) / 1_000 >= STOPPED) return 0;
  const kept = Math.exp(-within / RATE_TIME_CONSTANT);
  const rate = before * kept + ((writes * 1_000) / within) * (1 - kept);
  return rounded(rate);
}

/** The rate since the last measurement, or since the one that woke the counter. */
export function rateOf({ writes, within }: Pick<Demand, "writes" | "within">): number {
  return rounded((writes * 1_000) / within);
}

/** Rounded here and not when it is written: all instances must draw the same conclusions from the same number. */
function rounded(rate: number): number {
  return Number(rate.toPrecision(6));
}

/** Leaderboards, for any SDK: their options, and which fields order them. */
import { type CounterWindow, type CounterWindowName, isCurrent, type Seconds } from "./windows.ts";

/** The order of a leaderboard. */
export interface CounterRankOptions {
  /** Orders by the total or by the writes per second. Default `"total"`. */
  orderBy?: "total" | "rate" | undefined;
  /**
   * Orders by the sum of today, this week or this month instead of `orderBy`, and leaves out counters that have counted nothing
   * in it.
   */
  window?: CounterWindowName | undefined;
  /** Orders by the totals, or by the windows, of all regions. Not for `orderBy: "rate"`. Default `false`. */
  global?: boolean | undefined;
  /**
   * The largest rank, by default 100 for clients and any for servers; or the largest number of counters, by default 10. `mostListed` of the rules
   * lets clients read and count 100 at most.
   */
  limit?: number | undefined;
}

/** The order, the length and the collection of a leaderboard. */
export interface TopCountersOptions extends CounterRankOptions {
  /** The collection of the counters. Default `"counters"`. */
  collection?: string;
}

/**
 * The fields that a leaderboard orders by, descending; the last one decides the rank. The end of a window comes before its
 * sum, so that windows that are over come last.
 */
export function rankingFields(options: CounterRankOptions): readonly [...same: string[], ranked: string] {
  const { orderBy = "total", window, global } = options;
  if (window) return [`${windowField(options)}.until`, `${windowField(options)}.total`];
  return [global && orderBy === "total" ? "globalTotal" : orderBy];
}

function windowField({ window, global }: CounterRankOptions): string {
  return `${global ? "globalWindows" : "windows"}.${window}`;
}

/** The part that the document snapshots of all SDKs share. */
interface Document {
  get(field: string): unknown;
}

/**
 * With a window, the counters that have counted in it, the largest first; else all of them.
 *
 * @param found  in the order of the query
 * @param at     milliseconds since the epoch
 */
export function withCurrentWindow<D extends Document>(
  found: readonly D[],
  options: CounterRankOptions,
  at: number,
): readonly D[] {
  if (!options.window) return found;
  const countIn = (document: D) => document.get(windowField(options)) as CounterWindow<Seconds> | undefined;
  const totalOf = (document: D) => countIn(document)?.total ?? 0;
  // After a change of the time zone, some windows still end at another instant.
  return found.filter((one) => isCurrent(countIn(one), at)).sort((a, b) => totalOf(b) - totalOf(a));
}

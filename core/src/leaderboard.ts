/** Leaderboards, for any SDK: their options, and which fields order them. */
import { isCurrent, type Seconds, type Window, type WindowCount } from "./windows.ts";

/** The order of a leaderboard. */
export interface RankOptions {
  /** Orders by the total or by the writes per second. Default `"total"`. */
  by?: "total" | "rate" | undefined;
  /** Orders by what was counted today, this week or this month, instead of `by`; only the counters that have counted in it. */
  window?: Window | undefined;
}

/** The order, the length and the collection of a leaderboard. */
export interface TopOptions extends RankOptions {
  /** The largest number of counters. Default 10. */
  limit?: number | undefined;
  /** The collection of the counters. Default `"counters"`. */
  collection?: string | undefined;
}

/** The fields that order a leaderboard, each from the largest. The last one ranks; windows end at the same instant before. */
export function rankingFields({ by = "total", window }: RankOptions): readonly [...same: string[], ranked: string] {
  return window ? [`windows.${window}.until`, `windows.${window}.total`] : [by];
}

/** The part that the document snapshots of all SDKs share. */
interface Document {
  get(field: string): unknown;
}

/**
 * The counters that are on a leaderboard, of those that its query has found: with a window, those that have counted in it.
 *
 * @param at  milliseconds since the epoch
 */
export function onBoard<D extends Document>(found: readonly D[], { window }: RankOptions, at: number): readonly D[] {
  if (!window) return found;
  const countIn = (document: D) => document.get(`windows.${window}`) as WindowCount<Seconds> | undefined;
  const [first] = found.map(countIn);
  // Others may have another end for some hours, after the time zone was changed.
  return first && isCurrent(first, at)
    ? found.filter((one) => countIn(one)?.until.seconds === first.until.seconds)
    : [];
}

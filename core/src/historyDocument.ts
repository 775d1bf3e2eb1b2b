/**
 * The documents of a counter's history: the last published state of each minute and hour, and of a day of the time zone that
 * ends within an hour. The functions alone write them, at the next publish.
 *
 * One document holds the minutes of an hour or the hours of a day, in UTC, so a time series takes few reads. Document ids
 * sort by time, so one query by name reads a range and needs no index.
 */
import type { CounterDocument } from "./layout.ts";

/** The subcollection of a counter that holds its history. */
export const HISTORY = "tallyHistory";

/** A published state: the fields of the counter document at that time. */
export type HistoryState<Timestamp> = Omit<
  CounterDocument<Timestamp>,
  "group" | "countedCollection" | "growing" | "stock"
>;

/** `counters/{id}/tallyHistory/minutes-2026-11-21T14` or `…/hours-2026-11-21`. */
export interface HistoryDocument<Timestamp> {
  /**
   * Minute of the hour, `"00"`…`"59"`, or hour of the day, `"00"`…`"23"` → the last state published in that step. The hour
   * with {@link DAY_END} → the last state of a day of the deployment's time zone that ended within the hour.
   */
  points: Record<string, HistoryState<Timestamp>>;
  /** When the document may be deleted. For a TTL policy. */
  expireAt: Timestamp;
}

/** The suffix of the key of a day's last state, where the day ends within an hour of UTC, as in India at 18:30. */
export const DAY_END = "-day";

/** The steps whose last state is stored. */
export type StoredStep = "minute" | "hour";

/** The length of each step in milliseconds. A step begins at a multiple of its length since the epoch. */
export const STEP_MILLIS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** The time that one document covers, by its steps. */
const SPAN = { minute: "hour", hour: "day" } as const;

/** Where the last state of a minute or an hour is stored. */
export interface HistoryPlace {
  /** The id of the document. */
  readonly id: string;
  /** The key in its `points`. */
  readonly key: string;
  /** The end of the time that the document covers, in milliseconds since the epoch. */
  readonly end: number;
}

/** @param at  milliseconds since the epoch, of the years from 0 to 9999 */
export function historyPlace(step: StoredStep, at: number): HistoryPlace {
  // 2026-11-21T14:05:…: the id ends with the hour or the day; the key is the minute or the hour that follows.
  const time = new Date(at).toISOString();
  const length = step === "minute" ? 13 : 10;
  const span = STEP_MILLIS[SPAN[step]];
  return {
    id: `${step}s-${time.slice(0, length)}`,
    key: time.slice(length + 1, length + 3),
    end: (Math.floor(at / span) + 1) * span,
  };
}

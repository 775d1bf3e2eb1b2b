/**
 * The history of a counter: states it was published in, the last of each minute and of each hour. Only the functions
 * write it, at the next publish.
 *
 * A document holds the minutes of one hour, or the hours of one day, in UTC, so a time series takes few reads. Its id says
 * which, and ids sort by time, so a range of them is one query on names and needs no index.
 */
import type { CounterDocument } from "./layout.ts";

/** The subcollection of a counter that holds its history. */
export const HISTORY = "history";

/** How the counter was published once: the fields of the counter document, as they were. */
export type HistoryState<Timestamp> = Omit<CounterDocument<Timestamp>, "group" | "countedCollection" | "growing">;

/** `counters/{id}/history/minutes-2026-11-21T14` or `…/hours-2026-11-21`. */
export interface HistoryDocument<Timestamp> {
  /** Minute of the hour, `"00"`…`"59"`, or hour of the day, `"00"`…`"23"` → the last state published in it. */
  points: Record<string, HistoryState<Timestamp>>;
  /** When it may go. For a TTL policy. */
  expireAt: Timestamp;
}

/** Of what the last state is kept. */
export type StoredStep = "minute" | "hour";

/** How long a step is, in milliseconds. Each begins at a whole number of its length since the epoch. */
export const STEP_MILLIS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** What one document holds the steps of. */
const SPAN = { minute: "hour", hour: "day" } as const;

/** Where the last state of a minute or an hour is kept. */
export interface HistoryPlace {
  /** The id of the document. */
  readonly id: string;
  /** The key in its `points`. */
  readonly key: string;
  /** When the time is over that the document is about, in milliseconds since the epoch. */
  readonly end: number;
}

/** @param at  milliseconds since the epoch, of the years from 0 to 9999 */
export function historyPlace(step: StoredStep, at: number): HistoryPlace {
  // 2026-11-21T14:05:…: up to the hour, and the minute after it; or up to the day, and the hour.
  const time = new Date(at).toISOString();
  const length = step === "minute" ? 13 : 10;
  const span = STEP_MILLIS[SPAN[step]];
  return {
    id: `${step}s-${time.slice(0, length)}`,
    key: time.slice(length + 1, length + 3),
    end: (Math.floor(at / span) + 1) * span,
  };
}

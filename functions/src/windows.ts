/**
 * Counts in windows. An increment belongs to the windows of the publish that first counts it, so each is in exactly one
 * day, one week and one month (I11). What servers reset, import or correct belongs to none.
 */
import { DateTime } from "luxon";
import type { Window, Windows } from "../../core/src/index.ts";
import type { Millis } from "./time.ts";

/** The ends of the day, the week and the month that an instant is in. */
type WindowEnds = Readonly<Record<Window, Millis>>;

/**
 * The windows after a publish that has counted `counted` more. A counter that has counted nothing keeps its windows, though
 * they may be over, so it is on no board of a day without increments.
 *
 * @param asOf  the instant of the publish
 */
export function nextWindows(
  previous: Windows<Millis> | null,
  counted: number,
  asOf: Millis,
  timeZone: string,
): Windows<Millis> | null {
  if (counted === 0) return previous;
  const ends = windowEnds(asOf, timeZone);
  const next = (window: Window) => {
    const before = previous?.[window];
    return { until: ends[window], total: (before?.until === ends[window] ? before.total : 0) + counted };
  };
  return { timeZone, day: next("day"), week: next("week"), month: next("month") };
}

/** The last answer of {@link windowEnds}, which holds for a day. */
let today: { readonly timeZone: string; readonly start: Millis; readonly ends: WindowEnds } | undefined;

/** Weeks begin on Monday (ISO 8601). A day may have 23 or 25 hours, and may begin at 01:00. */
export function windowEnds(at: Millis, timeZone: string): WindowEnds {
  if (today?.timeZone !== timeZone || at < today.start || at >= today.ends.day) {
    const local = DateTime.fromMillis(at, { zone: timeZone });
    const end = (window: Window) =>
      local
        .startOf(window)
        .plus({ [window]: 1 })
        .startOf(window)
        .toMillis();
    const ends = { day: end("day"), week: end("week"), month: end("month") };
    today = { timeZone, start: local.startOf("day").toMillis(), ends };
  }
  return today.ends;
}

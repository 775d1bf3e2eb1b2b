/**
 * Counts in windows. An increment belongs to the windows of the publish that first counts it, so each is in exactly one
 * day, one week and one month (I11). What servers reset, import or correct belongs to none.
 */
import { DateTime } from "luxon";
import type { CounterWindowName, CounterWindows } from "../../../../core/src/index.ts";
import type { Millis } from "../../counter/time.ts";
import type { FeaturePlan } from "../../counter/types.ts";
import type { Config } from "../config.ts";
import { isIn } from "../groups.ts";

declare module "../../counter/types.ts" {
  interface Published {
    /** What was counted today, this week and this month; `null` if nothing was, or for a counter without windows. */
    readonly windows: CounterWindows<Millis> | null;
  }
}

export const windowsPlan = {
  name: "windows",
  needsPublishes: ({ ref }, { windowGroups }: Config) => isIn(windowGroups, ref?.id),
  fieldsAfter: ({ ref, previous, next, added }, { windowGroups, timeZone }: Config) => ({
    windows: isIn(windowGroups, ref?.id) ? nextWindows(previous?.windows ?? null, added, next.asOf, timeZone) : null,
  }),
} satisfies FeaturePlan;

/** The ends of the day, the week and the month that an instant is in. */
type WindowEnds = Readonly<Record<CounterWindowName, Millis>>;

/**
 * The windows after a publish. If nothing was added they stay as they are, even if they are over: so a leaderboard of today
 * leaves the counter out.
 *
 * @param added  the sum of the increments since the publish before
 * @param asOf   the instant of the publish
 */
export function nextWindows(
  previous: CounterWindows<Millis> | null,
  added: number,
  asOf: Millis,
  timeZone: string,
): CounterWindows<Millis> | null {
  if (added === 0) return previous;
  const ends = windowEnds(asOf, timeZone);
  const next = (window: CounterWindowName) => {
    const before = previous?.[window];
    return { until: ends[window], total: (before?.until === ends[window] ? before.total : 0) + added };
  };
  return { timeZone, day: next("day"), week: next("week"), month: next("month") };
}

/** The last answer of {@link windowEnds}, which holds for a day. */
let cached: { readonly timeZone: string; readonly start: Millis; readonly ends: WindowEnds } | undefined;

/** Weeks begin on Monday (ISO 8601). A day may have 23 or 25 hours, and may begin at 01:00. */
export function windowEnds(at: Millis, timeZone: string): WindowEnds {
  if (cached?.timeZone !== timeZone || at < cached.start || at >= cached.ends.day) {
    const local = DateTime.fromMillis(at, { zone: timeZone });
    const end = (window: CounterWindowName) =>
      local
        .startOf(window)
        .plus({ [window]: 1 })
        .startOf(window)
        .toMillis();
    const ends = { day: end("day"), week: end("week"), month: end("month") };
    cached = { timeZone, start: local.startOf("day").toMillis(), ends };
  }
  return cached.ends;
}

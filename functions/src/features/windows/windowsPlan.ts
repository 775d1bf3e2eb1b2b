/**
 * Counts in windows. An increment belongs to the windows of the publish that first counts it, so each is in exactly one
 * day, one week and one month (I11). What servers reset, import or correct belongs to none.
 */
import { DateTime } from "luxon";
import { type CounterWindowName, type CounterWindows, eachWindow } from "../../../../core/src/index.ts";
import type { Millis } from "../../counter/time.ts";
import type { FeaturePlan } from "../../shared/feature.ts";
import { GROUPS, type Groups, isIn, parseGroups } from "../../shared/groups.ts";
import { invalidParameter } from "../../shared/parameters.ts";

declare module "../../counter/types.ts" {
  interface FeatureSettings {
    readonly windows: {
      /** The counters with totals of today, this week and this month. */
      readonly groups: Groups;
      /** The IANA name of the time zone in which days begin. */
      readonly timeZone: string;
    };
  }
  interface FeatureFields {
    /** What was counted today, this week and this month; `null` if nothing was, or for a counter without windows. */
    readonly windows: CounterWindows<Millis> | null;
  }
}

export const windowsPlan = {
  name: "windows",
  parameters: {
    WINDOWS: {
      ...GROUPS,
      label: "Today, this week, this month",
      description:
        "The groups whose counters also have totals of today, this week and this month: names separated by commas, such as likes, " +
        "or * for all counters. Empty: none.",
      accepted: "groups such as `likes`, with commas; `*`: all counters",
    },
    TIME_ZONE: {
      default: "UTC",
      label: "Time zone",
      description:
        "The time zone in which a day begins, for the counts of today, this week and this month: a name such as Europe/Berlin.",
      accepted: "an [IANA name](https://www.iana.org/time-zones) such as `Europe/Berlin`",
      pattern: "^[A-Za-z][A-Za-z0-9+_/-]*$",
      invalid: "Enter the name of a time zone, such as Europe/Berlin.",
    },
  },
  settings(values) {
    const timeZone = values.text("TIME_ZONE");
    if (!isTimeZone(timeZone)) throw invalidParameter("TIME_ZONE", timeZone, "a name such as Europe/Berlin");
    return { windows: { groups: parseGroups(values.text("WINDOWS"), "WINDOWS"), timeZone } };
  },
  groupsThatNeedPublishes: ({ windows }) => windows.groups,
  needsPublishes: ({ ref }, { windows }) => isIn(windows.groups, ref?.id),
  fieldsAfter: ({ ref, previous, next, added }, { windows: { groups, timeZone } }) =>
    isIn(groups, ref?.id) ? nextWindows(previous?.windows ?? null, added, next.asOf, timeZone) : null,
} satisfies FeaturePlan<"windows">;

/** Not an offset such as +01:00, which older runtimes of clients do not know. */
function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

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
  return { timeZone, ...eachWindow(next) };
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
    const ends = eachWindow(end);
    cached = { timeZone, start: local.startOf("day").toMillis(), ends };
  }
  return cached.ends;
}
